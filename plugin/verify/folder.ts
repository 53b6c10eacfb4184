import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** No manifest that names a test command is larger; a larger file is generated. */
const LARGEST_READ = 2 * 1024 * 1024;

/**
 * A read-only, remembered view of a project's folders: detection asks for the same few files again and again.
 * Every path is relative to the root and `/`-separated.
 */
export class Folder {
  readonly root: string;
  readonly #texts = new Map<string, string | undefined>();
  readonly #lists = new Map<string, readonly string[]>();

  constructor(root: string) {
    this.root = root;
  }

  /** The names in a folder, sorted; empty where there is no such folder. */
  list(path: string): readonly string[] {
    let names = this.#lists.get(path);
    if (!names) {
      try {
        names = readdirSync(join(this.root, path)).sort();
      } catch {
        names = [];
      }
      this.#lists.set(path, names);
    }
    return names;
  }

  has(path: string): boolean {
    try {
      statSync(join(this.root, path));
      return true;
    } catch {
      return false;
    }
  }

  /** The file's text; undefined where it is missing, a folder, or larger than a manifest can be. */
  text(path: string): string | undefined {
    if (!this.#texts.has(path)) this.#texts.set(path, this.#read(path));
    return this.#texts.get(path);
  }

  /** The file as a JSON object, comments and trailing commas forgiven; undefined where that fails. */
  json(path: string): Record<string, unknown> | undefined {
    const text = this.text(path);
    if (text === undefined) return undefined;
    for (const candidate of [text, withoutComments(text)]) {
      try {
        const value: unknown = JSON.parse(candidate);
        return isRecord(value) ? value : undefined;
      } catch {}
    }
    return undefined;
  }

  #read(path: string): string | undefined {
    try {
      const full = join(this.root, path);
      const found = statSync(full);
      if (!found.isFile() || found.size > LARGEST_READ) return undefined;
      return readFileSync(full, 'utf8').replace(/^\uFEFF/, '');
    } catch {
      return undefined;
    }
  }
}

/** JSON with comments (deno.jsonc, nx.json) as JSON: strings are kept as they are. */
function withoutComments(text: string): string {
  return text
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_all, string?: string) => string ?? '')
    .replace(/,(\s*[}\]])/g, '$1');
}

/** Whether VALUE is an object of JSON: neither a list nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Two relative paths joined, "" being the root. */
export function under(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** The folder of a relative path; "" for a name at the root. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** A path relative to `folder`, going up where it has to; "." for the folder itself. */
export function relativeTo(folder: string, path: string): string {
  const from = folder === '' ? [] : folder.split('/');
  const to = path === '' ? [] : path.split('/');
  let same = 0;
  while (same < from.length && same < to.length && from[same] === to[same]) same++;
  return [...from.slice(same).map(() => '..'), ...to.slice(same)].join('/') || '.';
}
