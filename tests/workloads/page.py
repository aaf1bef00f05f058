"""The report as one HTML page that needs nothing else, made of the workloads' results. Pure."""

import time
from html import escape

import svg

STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; max-width: 1340px; margin: 2em auto;
padding: 0 1em }
h1 { font-size: 1.7em; margin-bottom: .2em } h2 { margin-top: 2em; border-top: 1px solid #ddd;
padding-top: .8em } table { border-collapse: collapse; margin: .6em 0 }
td, th { padding: .15em .9em .15em 0; text-align: left; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums } th { font-weight: 600;
border-bottom: 1px solid #bbb } .good { color: #00704f } .bad { color: #c22; font-weight: 600 }
.plots { display: flex; flex-wrap: wrap; gap: 12px } .plots svg { border: 1px solid #e5e5e5 }
.note { color: #555 } code { background: #f3f3f3; padding: 0 .25em }
"""


def number(value):
    """A figure as a person reads it."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) < 2 else f"{value:,.1f}"


def _aim(row):
    if row["aim"] is None:
        return ""
    wanted = f"{'at most' if row['at_most'] else 'at least'} {row['aim']:g}"
    return f'<span class="{"good" if row["met"] else "bad"}">{wanted}</span>'


def table(rows):
    lines = [f"<tr><td>{escape(row['what'])}</td><td class=n>{number(row['value'])}</td>"
             f"<td>{escape(row['unit'])}</td><td>{_aim(row)}</td>"
             f"<td>{escape(row['seed'] or '')}</td></tr>" for row in rows]
    return ("<table><tr><th>what</th><th>measured</th><th></th><th>aim</th>"
            f"<th>HP published</th></tr>{''.join(lines)}</table>")


def section(result):
    begun = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(result["began"]))
    good = "good" if result["passed"] else "bad"
    plots = "".join(svg.draw(plot) for plot in result["plots"])
    notes = "".join(f"<li>{escape(limit)}</li>" for limit in result["limits"])
    return (f"<h2 id={result['name']}>{escape(result['name'])}</h2>"
            f"<p>{escape(result['summary'])}.</p>"
            f'<p class="{good}">{escape(result["verdict"])}</p>'
            f"<div class=plots>{plots}</div>{table(result['rows'])}"
            f"<ul class=note>{notes}<li>{begun}, {result['took_s']:.0f} s, load of the machine "
            f"{result['load_before']:.1f} before and {result['load_after']:.1f} after, "
            f"<code>{escape(result['command'])}</code></li></ul>")


def page(results, notes):
    """The whole page. notes: limits of all figures."""
    machine = "".join(f"<tr><td>{escape(what)}</td><td>{escape(str(told))}</td></tr>"
                      for what, told in results[-1]["machine"].items())
    verdicts = "".join(
        f'<tr><td><a href="#{one["name"]}">{escape(one["name"])}</a></td>'
        f'<td class="{"good" if one["passed"] else "bad"}">'
        f'{escape(one["verdict"].split(": ", 1)[1])}</td></tr>' for one in results)
    passed = sum(one["passed"] for one in results)
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f"<title>symnas: database workloads</title><style>{STYLE}</style></head><body>"
            f"<h1>symnas: database workloads</h1><p>{passed} of {len(results)} workloads met "
            f"their aims.</p><table>{verdicts}</table>"
            f"<h3>Limits of all figures</h3><ul class=note>{listed}</ul>"
            f"<h3>Machine and versions</h3><table>{machine}</table>"
            f"{''.join(section(one) for one in results)}</body></html>")
