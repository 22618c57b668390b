/** Icons: 16 px, one stroke width, in the colour of their text. They never carry meaning alone. */
const paths = {
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5 6.5 12 13 4.5',
  plus: 'M8 3v10M3 8h10',
  chevron: 'M4 6l4 4 4-4',
  back: 'M10 3 5 8l5 5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.7 10.7 14 14',
  fence: 'M8 1.8 13.4 5v6L8 14.2 2.6 11V5ZM8 9.4a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8Z',
  beacon:
    'M8 9.3a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6ZM5.2 10.8a4 4 0 0 1 0-5.6M10.8 5.2a4 4 0 0 1 0 5.6' +
    'M3.1 12.9a7 7 0 0 1 0-9.8M12.9 3.1a7 7 0 0 1 0 9.8',
  key: 'M6 13A3 3 0 1 0 6 7a3 3 0 0 0 0 6ZM8.2 7.8 13.5 2.5M11.2 4.8l1.8 1.8',
  settings:
    'M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M10 6.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z' +
    'M6 13.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z',
  members:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4' +
    'M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.8c1.6.6 2.5 1.9 2.5 3.7',
  webhook:
    'M5.2 10.5H3.8A2.3 2.3 0 1 0 6 12.8h6M10.7 10.7a2.3 2.3 0 1 1 0 4.1M8 5.8 5.5 10.3M9.7 6.2 12 10.3' +
    'M6.2 6.6a2.3 2.3 0 1 1 3.9-.1',
  start: 'M3 14V2.5M3 3h8.5l-1.7 3 1.7 3H3',
  book: 'M2.5 3c2-.8 4-.6 5.5.6C9.5 2.4 11.5 2.2 13.5 3v9.8c-2-.8-4-.6-5.5.6-1.5-1.2-3.5-1.4-5.5-.6ZM8 3.6v9.8',
  sun:
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3.05 3.05l1.06 1.06' +
    'M11.89 11.89l1.06 1.06M3.05 12.95l1.06-1.06M11.89 4.11l1.06-1.06',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z',
  screen: 'M2 3h12v8H2ZM6 14h4M8 11v3',
  user: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8ZM2.8 14c0-2.7 2.3-4.3 5.2-4.3s5.2 1.6 5.2 4.3',
  download: 'M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  upload: 'M8 10.5V2.5M4.5 5.5 8 2l3.5 3.5M2.5 13.5h11',
  file: 'M9 1.8H4v12.4h8.5V5.3ZM9 1.8v3.5h3.5',
  sync: 'M2.5 7A5.6 5.6 0 0 1 12.3 4.6M13.5 9A5.6 5.6 0 0 1 3.7 11.4M12.6 1.8v3h-3M3.4 14.2v-3h3',
  out: 'M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3',
  copy: 'M5.5 5.5h8v8h-8ZM3.5 10.5h-1v-8h8v1',
  warning: 'M8 2 14.5 13.5H1.5ZM8 6.5v3M8 11.3v.2',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.3V11M8 5v.2',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9M6.7 7v4M9.3 7v4',
  refresh: 'M13.5 8A5.5 5.5 0 1 1 11.8 4M12.5 1.5V4.3H9.7',
  map: 'M1.5 4 6 2l4 2 4.5-2v10L10 14l-4-2-4.5 2ZM6 2v10M10 4v10',
  layers: 'M8 2 14.5 5.5 8 9 1.5 5.5ZM1.5 8.2 8 11.7l6.5-3.5M1.5 11 8 14.5 14.5 11',
  undo: 'M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7',
  redo: 'M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3',
  circle: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 8h6',
  polygon: 'M3 5.5 9 2l4.5 5-2 6.5-8-1.5Z',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5',
  place: 'M8 14.5S3 9.8 3 6.5a5 5 0 0 1 10 0c0 3.3-5 8-5 8ZM8 8.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z',
  chart: 'M2 14h12M3.5 14V8.5h2.4V14M7 14V3h2.4v11M10.6 14V6H13v8',
  image: 'M2 3h12v10H2ZM2 11l3.5-3.5 3 3L11 8l3 3M11 5.6v.2',
  pulse: 'M1 8h3l2-5 3.5 10 2-5H15',
} as const;

export type IconName = keyof typeof paths;

/** Draws a sign that screen readers skip: the control around it has the name. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}

export function Logo({ size = 22 }: { readonly size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 24 24" fill="none">
      <path
        d="M12 2.2 20.6 7.1v9.8L12 21.8 3.4 16.9V7.1Z"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinejoin="round"
        strokeDasharray="4.6 2"
      />
      <circle cx="12" cy="12" r="3.4" fill="currentColor" />
    </svg>
  );
}
