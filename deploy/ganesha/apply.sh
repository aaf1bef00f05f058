# How the patches are applied: in the order of patches/series, those of ntirpc/ to ntirpc's own
# tree, all others to ganesha's. Sourced by deploy/setup/steps/ganesha.sh and by rebase.

patches=$top/deploy/ganesha/patches

# patch_files: the paths of all patches, in the order in which they apply.
patch_files() {
  while read -r name; do echo "$patches/$name"; done <"$patches/series"
}

# tree_of PATCH GANESHA NTIRPC: which of the two folders the patch belongs to.
tree_of() {
  case $1 in
    "$patches"/ntirpc/*) echo "$3" ;;
    *) echo "$2" ;;
  esac
}

# unpack_sources GANESHA_TARBALL NTIRPC_TARBALL GANESHA NTIRPC: into these two folders; makes them.
unpack_sources() {
  mkdir -p "$3" "$4"
  tar -xf "$1" -C "$3" --strip-components=1
  tar -xf "$2" -C "$4" --strip-components=1
}

# apply_patches GANESHA NTIRPC: ends at the first patch that does not apply.
apply_patches() {
  # shellcheck disable=SC2094  # tree_of looks at the name only
  patch_files | while read -r patch_file; do
    echo "applying ${patch_file#"$patches/"}"
    patch -d "$(tree_of "$patch_file" "$1" "$2")" -p1 --no-backup-if-mismatch <"$patch_file" ||
      exit 1
  done
}
