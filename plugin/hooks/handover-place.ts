// Which file a session's handover document goes to, and what becomes of what stands there.

import path from 'node:path';
import type { Host } from '../host.ts';
import { sidecarOptions } from '../settings.ts';
import { archiveDocument, documentPlace, findDocument, ownFile } from './handover-file.ts';
import { inTime } from './in-time.ts';

/** What asking for other sessions may take of a step's time. */
const MILLISECONDS = 5000;

/** Sessions seen so lately are taken for open. */
const OPEN_SECONDS = 1800;

/**
 * The file for SESSION's document: NAME in the root, or one of its own where that is IN-USE, belongs to another open session or is no document. What
 * stood there is archived, and where it went is told.
 */
export async function freeFile(
  host: Host,
  name: string,
  session: string,
  inUse: (file: string) => boolean,
  log: (text: string) => void,
): Promise<{ file: string; archived: string | undefined }> {
  const usual = path.resolve(host.root, name);
  const place = documentPlace(host.root, usual);
  if (!place) log(`${name} is no handover document and stays`);
  const taken =
    !place || inUse(place) || (await inTime(MILLISECONDS, ownedByAnother(host, place, session)).catch(() => false));
  const file = taken ? ownFile(usual, session) : place;
  const { indexFolder } = sidecarOptions(host.root, await host.settings());
  const archived = archiveDocument(file, path.join(indexFolder, 'handovers'));
  if (archived) log(`the document that stood at ${file} was moved to ${archived}`);
  return { file, archived };
}

/** True when the document at FILE is of a session other than SESSION that has done something lately, in whichever process. */
async function ownedByAnother(host: Host, file: string, session: string): Promise<boolean> {
  const owner = findDocument(file)?.stamp?.session;
  if (!owner || owner === session) return false;
  const sidecar = await host.sidecar();
  const { session: rows } = await sidecar.call('sessions', {}, { signal: AbortSignal.timeout(MILLISECONDS) });
  return rows.some((row) => row.id === owner && row.age !== null && row.age < OPEN_SECONDS);
}
