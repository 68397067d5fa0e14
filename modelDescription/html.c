#include "html.h"

static const char style[] =
    "body{margin:0 auto;max-width:62rem;padding:1.5rem;font:16px/1.5 "
    "system-ui,sans-serif;color:#1a2938;background:#fff}"
    "h1{margin:0}h2{margin:2rem 0 .5rem;padding-bottom:.2rem;border-bottom:2px solid #d5dde4;font-size:1.25rem}"
    "p.lead{margin:.3rem 0 1rem;color:#4a5a68}"
    "table{border-collapse:collapse;width:100%;font-size:.88rem}"
    "th,td{padding:.25rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #e4e9ee}"
    "th{background:#f2f5f8;white-space:nowrap}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    "th.n{text-align:right}code{font:.92em ui-monospace,monospace;white-space:nowrap}"
    ".wide{overflow-x:auto;margin:.6rem 0}figure{margin:1rem "
    "0}svg{display:block;width:100%;height:auto;background:#f7f9fb;border-radius:6px}"
    "figcaption{font-size:.85rem;color:#4a5a68;margin-top:.4rem}"
    "figure svg{max-width:100%}@media print{body{max-width:none;padding:0;font-size:11pt}h2{break-after:avoid}"
    "figure,tr{break-inside:avoid}}"
    "@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark}body{color:#e8edf2;background:#12181f}"
    "p.lead,figcaption{color:#a3b2c0}h2,th,td{border-color:#33424f}th{background:#1d2833}svg{background:#18212a}"
    "figure svg:not(.limber-picture){filter:invert(.9) hue-rotate(180deg)}}"; /* plots: lines keep their hue */

void html_heading(struct xml *xml, const char *text)
{
    xml_leaf(xml, "h2", text);
}

void html_paragraph(struct xml *xml, const char *text)
{
    xml_leaf(xml, "p", text);
}

void html_begin_table(struct xml *xml, int n, const char *const *heads)
{
    xml_begin(xml, "div");
    xml_attribute(xml, "class", "wide");
    xml_begin(xml, "table");
    xml_begin(xml, "thead");
    xml_begin(xml, "tr");
    for (int i = 0; i < n; i++) {
        const bool number = heads[i][0] == '#'; /* a column of numbers */
        xml_begin(xml, "th");
        if (number) xml_attribute(xml, "class", "n");
        xml_text(xml, heads[i] + number);
        xml_end_full(xml);
    }
    xml_end_full(xml);
    xml_end_full(xml);
    xml_begin(xml, "tbody");
}

void html_end_table(struct xml *xml)
{
    for (int i = 0; i < 3; i++) xml_end_full(xml); /* tbody, table, div */
}

void html_cell(struct xml *xml, const char *text)
{
    xml_leaf(xml, "td", text);
}

void html_code_cell(struct xml *xml, const char *text)
{
    xml_begin(xml, "td");
    xml_leaf(xml, "code", text);
    xml_end_full(xml);
}

void html_begin_number(struct xml *xml)
{
    xml_begin(xml, "td");
    xml_attribute(xml, "class", "n");
}

void html_number_cell(struct xml *xml, double value)
{
    html_begin_number(xml);
    xml_printf(xml, "%.6g", value);
    xml_end_full(xml);
}

void html_head(struct xml *xml, const char *title)
{
    xml_begin(xml, "head");
    xml_begin(xml, "meta");
    xml_attribute(xml, "charset", "utf-8");
    xml_end(xml);
    xml_begin(xml, "meta");
    xml_attribute(xml, "name", "viewport");
    xml_attribute(xml, "content", "width=device-width, initial-scale=1");
    xml_end(xml);
    xml_leaf(xml, "title", title);
    xml_begin(xml, "style");
    xml_raw(xml, style);
    xml_end_full(xml);
    xml_end_full(xml);
}
