/** A link to a file of the API. */
import { type ComponentProps, type MouseEvent, useState } from 'react';
import { send } from '../client/call';
import { Icon } from './icons';
import { saveFile } from './save-file';
import { messageOf, useToasts } from './toasts';

interface Props extends Omit<ComponentProps<'a'>, 'href' | 'download' | 'onClick'> {
  readonly href: string;
}

/** Returns the name that the server gives the file. */
function nameOf({ headers }: Response): string {
  const [, name = 'download'] = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? [];
  return name;
}

/** Downloads a file, or says why the server refuses it: a browser would save the refusal as the file. */
export function DownloadLink({ href, children, ...rest }: Props) {
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  async function download(event: MouseEvent): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      const { response, body } = await send(href, {}, (response) => response.blob());
      saveFile(nameOf(response), body);
    } catch (error) {
      toasts.complain(`The file could not be downloaded. ${messageOf(error)}`);
    } finally {
      setBusy(false);
    }
  }
  return (
    <a {...rest} href={href} download aria-busy={isBusy || undefined} onClick={(event) => void download(event)}>
      {isBusy ? <span className="spinner" /> : <Icon name="download" />}
      {children}
    </a>
  );
}
