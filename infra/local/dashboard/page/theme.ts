import { background } from './palette.ts';

/** What a canvas cannot take from the style sheet by itself. */
export interface Theme {
  readonly name: 'light' | 'dark';
  readonly font: string;
  /** Text that should not compete with data. */
  readonly quiet: string;
  readonly line: string;
}

const dark = matchMedia('(prefers-color-scheme: dark)');

export function currentTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const property = (name: string) => style.getPropertyValue(name).trim();
  return {
    name: dark.matches ? 'dark' : 'light',
    font: style.fontFamily || 'sans-serif',
    quiet: property('--quiet'),
    line: property('--line'),
  };
}

export function onTheme(listener: () => void): void {
  dark.addEventListener('change', listener);
}

/** The bar of a phone's browser takes the colour of the page. */
export function paintBrowser(): void {
  const meta = document.createElement('meta');
  meta.name = 'theme-color';
  const paint = () => (meta.content = background[dark.matches ? 'dark' : 'light']);
  paint();
  onTheme(paint);
  document.head.append(meta);
}
