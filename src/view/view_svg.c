/* The frame, labels and texts of pictures. */
#include "view/view_svg.h"

#include <jansson.h>

void view_svg_text(FILE *out, const char *text)
{
    json_t *valid = json_string(text);
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '&')
            (void)fputs("&amp;", out);
        else if (c == '<')
            (void)fputs("&lt;", out);
        else if (c == '>')
            (void)fputs("&gt;", out);
        else if (c == '"')
            (void)fputs("&quot;", out);
        else
            (void)fputc(c < 0x20 || c == 0x7f || (c >= 0x80 && !valid) ? '?' : c, out);
    }
    json_decref(valid);
}

void view_svg_label(FILE *out, double x, double y, const char *klass, const char *text)
{
    (void)fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", klass, x, y);
    view_svg_text(out, text);
    (void)fputs("</text>\n", out);
}

void view_svg_begin(FILE *out, double width, double height)
{
    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
        "<style>text{font:12px sans-serif;fill:#333}.head{font-size:16px;font-weight:bold}.name{font-weight:"
        "bold}.end{text-anchor:end}.middle{text-anchor:middle}.axis{stroke:#666}.grid{stroke:#ddd}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height);
}
