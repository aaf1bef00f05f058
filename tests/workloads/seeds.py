"""What HP published of its clustered NAS for Oracle, where a shape can be compared with ours.

Shares of linear growth, from its papers on the Enterprise File Services Clustered Gateway and on
Scalable NAS with Oracle (2006 to 2009). Hardware and software differ in everything: what is
compared is how a load grows with links and heads, not how fast it is.
"""

SECOND_LINK = "97 to 99 % of a second NIC"
FOUR_LINKS = "about 85 % of four NICs"
TABLESPACES = "94 % with two heads"
OLTP = "87 % with four nodes"
