import { detectBuild } from './detect-builds.ts';
import { detectJavascript } from './detect-javascript.ts';
import { detectPython } from './detect-python.ts';
import { detectBySigns } from './detect-signs.ts';
import { builtFromTop, ecosystemOf } from './ecosystem.ts';
import { Folder, folderOf } from './folder.ts';
import { planOfCommand } from './given.ts';
import type { Plan } from './plan.ts';
import { COMPILED_SIGNS } from './signs-compiled.ts';
import { JVM_SIGNS } from './signs-jvm.ts';
import { SCRIPTED_SIGNS } from './signs-scripted.ts';

export interface DetectOptions {
  /** Changed paths, relative to the root: they decide which package of a workspace is meant. */
  readonly changed?: readonly string[];
  /** The command the user gave; it wins over all. */
  readonly command?: string;
  readonly windows?: boolean;
}

/** Every way to test this project that was asked for, and how to find the one for a file. */
export class Detected {
  readonly folder: Folder;
  readonly #windows: boolean;
  readonly #given: Plan | undefined;
  readonly #build: Plan | undefined;
  readonly #plans = new Map<string, readonly Plan[]>();

  constructor(root: string, options: DetectOptions = {}) {
    this.folder = new Folder(root);
    this.#windows = options.windows ?? process.platform === 'win32';
    this.#given =
      options.command === undefined || options.command.trim() === ''
        ? undefined
        : planOfCommand(this.folder, options.command, this.#windows);
    this.#build = this.#given ? undefined : detectBuild(this.folder, options.changed ?? []);
  }

  /** The plan that tests this file: of the package it is in and its language. undefined where nothing is known. */
  planFor(path: string): Plan | undefined {
    if (this.#given) return this.#given;
    if (this.#build) return this.#build;
    const family = ecosystemOf(path);
    const found: Plan[] = [];
    for (let at = folderOf(path); ; at = folderOf(at)) {
      const plans = this.#at(at);
      const plan =
        family === undefined
          ? plans[0]
          : (plans.find((one) => one.ecosystem === family) ?? plans.find((one) => one.runner === 'make'));
      if (plan) {
        if (family === undefined || !builtFromTop(family)) return plan;
        found.push(plan);
      }
      if (at === '') return found.at(-1);
    }
  }

  /** The plans for the full suites that the changed paths belong to; those of the root where nothing changed. */
  plans(changed: readonly string[]): readonly Plan[] {
    const first = this.#given ?? this.#build;
    if (first) return [first];
    const coded = changed.filter((path) => ecosystemOf(path) !== undefined);
    const chosen = new Set(
      (coded.length > 0 ? coded : changed).map((path) => this.planFor(path)).filter((plan) => plan !== undefined),
    );
    if (chosen.size === 0) for (const plan of this.#at('')) chosen.add(plan);
    return [...chosen];
  }

  #at(at: string): readonly Plan[] {
    let plans = this.#plans.get(at);
    if (!plans) {
      const signs = [...JVM_SIGNS, ...COMPILED_SIGNS, ...SCRIPTED_SIGNS];
      plans = [
        ...detectJavascript(this.folder, at),
        ...detectPython(this.folder, at, this.#windows),
        ...detectBySigns(signs, this.folder, at, this.#windows),
      ];
      this.#plans.set(at, plans);
    }
    return plans;
  }
}
