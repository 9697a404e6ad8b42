"""The few Grafana shapes that the dashboards need, so that a board reads as titles, questions and advice.

Grafana's classic JSON model: versions 10 to 12 read it, later ones migrate it on load.
"""

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}

# Written in expressions as @name@: label matchers of the board's variables.
MATCHERS = {
    "i": 'job=~"$job", instance=~"$instance"',
    "e": 'job=~"$job", instance=~"$instance", provider=~"$provider", endpoint=~"$endpoint"',
    # For families that know the endpoint only.
    "n": 'job=~"$job", instance=~"$instance", endpoint=~"$endpoint"',
    "d": 'job=~"$job", instance=~"$instance", destination=~"$destination"',
    # For recorded series, which are of a whole job.
    "re": 'job=~"$job", endpoint=~"$endpoint"',
    "rd": 'job=~"$job", destination=~"$destination"',
}

RUNBOOKS = "dashboards/runbooks/"
WIDTH = 24


def expand(expression):
    for name, matchers in MATCHERS.items():
        expression = expression.replace(f"@{name}@", matchers)
    return " ".join(expression.split())


def query(expression, legend, instant=False, table=False):
    """One question to Prometheus; `legend` names its series."""
    return {
        "expr": expand(expression),
        "legendFormat": legend,
        "instant": instant or table,
        "range": not (instant or table),
        "format": "table" if table else "time_series",
    }


def panel(kind, title, unit, advice, *queries, width=8, height=8, runbook=None, options=None, field=None, overrides=(),
          transformations=()):
    """`advice` says what is normal and what to do when it is not; `runbook` is the page to open."""
    description = " ".join(advice.split())
    if runbook:
        description += f" Runbook: {RUNBOOKS}{runbook}.md"
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": DATASOURCE,
        "gridPos": {"w": width, "h": height},
        "fieldConfig": {
            "defaults": {"unit": unit, **(field or {})},
            "overrides": list(overrides),
        },
        "options": options or {},
        "transformations": list(transformations),
        "targets": [{"refId": chr(ord("A") + at), "datasource": DATASOURCE, **q} for at, q in enumerate(queries)],
    }


def graph(title, unit, advice, *queries, stacked=False, least=0, limit=None, dashed=None, **kw):
    """Lines over time. `limit` draws a threshold; series whose legend matches `dashed` are limits themselves."""
    custom = {
        "drawStyle": "line",
        "lineWidth": 1,
        "fillOpacity": 25 if stacked else 5,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    field = {"custom": custom}
    if least is not None:
        field["min"] = least
    if limit is not None:
        custom["thresholdsStyle"] = {"mode": "line"}
        field["thresholds"] = {
            "mode": "absolute",
            "steps": [{"color": "green", "value": None}, {"color": "red", "value": limit}],
        }
    overrides = []
    if dashed:
        overrides.append({
            "matcher": {"id": "byRegexp", "options": dashed},
            "properties": [
                {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}},
                {"id": "custom.fillOpacity", "value": 0},
            ],
        })
    options = {
        "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"], "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel("timeseries", title, unit, advice, *queries, options=options, field=field, overrides=overrides, **kw)


def number(title, unit, advice, *queries, good=None, bad=None, low_is_bad=False, width=4, height=5, **kw):
    """The present value, coloured: orange from `good` on, red from `bad` on (below, if low is bad)."""
    if low_is_bad:
        steps = [{"color": "red", "value": None}, {"color": "orange", "value": bad}, {"color": "green", "value": good}]
    else:
        steps = [{"color": "green", "value": None}]
        steps += [{"color": c, "value": v} for c, v in (("orange", good), ("red", bad)) if v is not None]
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "background" if good is not None or bad is not None else "value",
        "graphMode": "area",
        "textMode": "auto",
        "justifyMode": "auto",
        "orientation": "auto",
    }
    field = {"thresholds": {"mode": "absolute", "steps": steps}}
    return panel("stat", title, unit, advice, *queries, options=options, field=field, width=width, height=height, **kw)


def table(title, unit, advice, *queries, names=None, hide=(), width=12, **kw):
    """One line for each series; several queries are joined by their labels. `names` renames columns."""
    names = {"Value": "Value", **(names or {})}
    hidden = {"Time": True, "__name__": True, **{column: True for column in hide}}
    transformations = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": hidden, "renameByName": names, "indexByName": {}}},
    ]
    options = {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "fields": ""}}
    return panel("table", title, unit, advice, *queries, options=options, transformations=transformations, width=width,
                 field={"custom": {"align": "auto", "filterable": True}}, **kw)


def heatmap(title, unit, advice, *queries, **kw):
    """A histogram over time."""
    options = {
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Oranges", "exponent": 0.5, "steps": 64, "fill": "dark-orange",
                  "reverse": False},
        "yAxis": {"axisPlacement": "left", "unit": unit},
        "rowsFrame": {"layout": "auto"},
        "legend": {"show": True},
        "tooltip": {"mode": "single", "showColorScale": False, "yHistogram": True},
        "filterValues": {"le": 1e-9},
    }
    shown = [{**q, "format": "heatmap"} for q in queries]
    return panel("heatmap", title, unit, advice, *shown, options=options, **kw)


def variable(name, label, source):
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"qryType": 1, "query": source, "refId": f"variable-{name}"},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "options": [],
        "hide": 0,
        "skipUrlSync": False,
    }


VARIABLES = {
    "job": variable("job", "Job", "label_values(hookgate_build_info, job)"),
    "instance": variable("instance", "Instance", 'label_values(hookgate_build_info{job=~"$job"}, instance)'),
    "provider": variable("provider", "Provider", 'label_values(hookgate_requests_total{job=~"$job"}, provider)'),
    "endpoint": variable(
        "endpoint", "Endpoint", 'label_values(hookgate_requests_total{job=~"$job", provider=~"$provider"}, endpoint)'),
    "destination": variable(
        "destination", "Destination", 'label_values(hookgate_outbox_backlog{job=~"$job"}, destination)'),
}

DATASOURCE_VARIABLE = {
    "name": "datasource",
    "label": "Data source",
    "type": "datasource",
    "query": "prometheus",
    "current": {"text": "", "value": ""},
    "options": [],
    "refresh": 1,
    "regex": "",
    "multi": False,
    "includeAll": False,
    "hide": 0,
    "skipUrlSync": False,
}

# Where alerts began, as marks on every graph.
ALERTS = {
    "name": "Alerts",
    "datasource": DATASOURCE,
    "enable": True,
    "hide": False,
    "iconColor": "red",
    "target": {
        "refId": "alerts",
        "expr": 'ALERTS{alertname=~"Hookgate.*", alertstate="firing", job=~"$job|"}',
        "interval": "60s",
    },
    "titleFormat": "{{alertname}}",
    "textFormat": "{{endpoint}} {{destination}} {{instance}}",
}


def board(uid, title, description, variables, rows):
    """A dashboard from rows of panels, laid out from left to right."""
    panels, y, number_of = [], 0, 1
    for name, row in rows:
        panels.append({"type": "row", "title": name, "id": number_of, "collapsed": False, "panels": [],
                       "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}})
        number_of, y, x, tallest = number_of + 1, y + 1, 0, 0
        for item in row:
            place = item["gridPos"]
            if x + place["w"] > WIDTH:
                x, y, tallest = 0, y + tallest, 0
            panels.append({**item, "id": number_of, "gridPos": {"x": x, "y": y, **place}})
            number_of, x, tallest = number_of + 1, x + place["w"], max(tallest, place["h"])
        y += tallest
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["hookgate"],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "graphTooltip": 1,
        "timezone": "",
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "fiscalYearStartMonth": 0,
        "links": [{"type": "dashboards", "title": "hookgate", "tags": ["hookgate"], "asDropdown": True,
                   "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link", "tooltip": "",
                   "url": ""}],
        "annotations": {"list": [ALERTS]},
        "templating": {"list": [DATASOURCE_VARIABLE, *(VARIABLES[name] for name in variables)]},
        "panels": panels,
    }
