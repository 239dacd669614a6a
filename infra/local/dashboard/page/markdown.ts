import { h } from './dom.ts';

/** Headings, paragraphs, lists, bold, code and https links of a text widget, as elements; all else stays text. */
export function markdown(source: string): HTMLElement {
  const blocks = source.trim().split(/\n{2,}|\n(?=#)/);
  return h('div', { class: 'text' }, ...blocks.flatMap(blockOf));
}

function blockOf(block: string): HTMLElement[] {
  const [first = '', ...others] = block.split('\n');
  const [, heading] = /^#+\s+(.*)$/.exec(first) ?? [];
  if (heading !== undefined)
    return [h('h3', {}, ...inline(heading)), ...(others.length > 0 ? blockOf(others.join('\n')) : [])];
  const lines = [first, ...others];
  if (lines.every((line) => /^[-*]\s/.test(line)))
    return [h('ul', {}, ...lines.map((line) => h('li', {}, ...inline(line.slice(2)))))];
  return [h('p', {}, ...inline(lines.join(' ')))];
}

function inline(text: string): (Node | string)[] {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`|\[[^\]]+\]\(https:\/\/[^)\s]+\))/).map((part) => {
    if (part.startsWith('**')) return h('strong', {}, part.slice(2, -2));
    if (part.startsWith('`')) return h('code', {}, part.slice(1, -1));
    const [, label, href] = /^\[([^\]]+)\]\((https:[^)]+)\)$/.exec(part) ?? [];
    return label !== undefined && href !== undefined ? h('a', { href, rel: 'noreferrer' }, label) : part;
  });
}
