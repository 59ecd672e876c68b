// SPDX-License-Identifier: Apache-2.0
// Pages of ../docs that the interface links to, as HTML. Knows the Markdown those pages use: headings, paragraphs, lists, tables, bold, italics, code.

function escape(text) {
    return text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
}

function inline(text) {
    // Code first, put aside: nothing inside it is markup.
    const codes = [];
    return escape(text)
        .replace(/`([^`]+)`/g, (_, c) => `\u0000${codes.push(c) - 1}\u0000`)
        .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
        .replace(/\*([^*]+)\*/g, '<em>$1</em>')
        .replace(/\u0000(\d+)\u0000/g, (_, i) => `<code>${codes[i]}</code>`);
}

function cells(line) {
    return line.replace(/^\||\|$/g, '').split('|').map((c) => inline(c.trim()));
}

function table(lines) {
    const row = (line, tag) => `<tr>${cells(line).map((c) => `<${tag}>${c}</${tag}>`).join('')}</tr>`;
    return `<table class="data"><thead>${row(lines[0], 'th')}</thead><tbody>${lines.slice(2).map((l) => row(l, 'td')).join('')}</tbody></table>`;
}

function block(text) {
    const lines = text.split('\n');
    const heading = /^(#+) (.*)$/.exec(lines[0]);
    if (heading && lines.length === 1) return `<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`;
    if (lines[0].startsWith('|')) return table(lines);
    if (lines[0].startsWith('- ')) return `<ul>${text.split(/\n?^- /m).slice(1).map((i) => `<li>${inline(i)}</li>`).join('')}</ul>`;
    return `<p>${inline(text)}</p>`;
}

/** The body of a page. A heading ends its block, whether an empty line follows or not. */
export function toHtml(markdown) {
    const text = markdown.replace(/<!--[^]*?-->\n?/g, '').replace(/^(#+ .*)$/gm, '\n$1\n');
    return text.split(/\n{2,}/).map((b) => b.trim()).filter(Boolean).map(block).join('\n');
}

export function docPage(markdown, css, icon) {
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? 'Flamekeep';
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} · Flamekeep</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${css}">
</head>
<body>
<main class="doc">
<p><a href="../">Flamekeep</a></p>
${toHtml(markdown)}
</main>
</body>
</html>
`;
}
