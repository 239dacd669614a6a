type Attributes = Readonly<Record<string, string>>;

/** An element with attributes and children. Text stays text: nothing here parses markup. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Sets an element's text where it is another, so that a selection in it survives an update that changes nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows these children, in this order, leaving alone what is there already. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  const same = children.length === parent.children.length && children.every((child, i) => parent.children[i] === child);
  if (!same) parent.replaceChildren(...children);
}
