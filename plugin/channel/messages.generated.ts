// Generated from protocol/protocol.tsv by `npm run generate`; edits are lost.

export const PROTOCOL_VERSION = 1;

export const LIMITS = {"lineOctets":4194304,"requests":256} as const;

export const certaintyValues = ["exact","likely","possible"] as const;
export type Certainty = (typeof certaintyValues)[number];

export const roleValues = ["match","caller","callee","defines","same-file","test","history","lexical"] as const;
export type Role = (typeof roleValues)[number];

export const verdictValues = ["passed","failed","no-tests-ran","compile-error","setup-error","timeout","cancelled","unparsed"] as const;
export type Verdict = (typeof verdictValues)[number];

export const scopeValues = ["targeted","full"] as const;
export type Scope = (typeof scopeValues)[number];

export const touchedValues = ["body","signature","added","deleted","module"] as const;
export type Touched = (typeof touchedValues)[number];

export const doubtValues = ["incomplete","full-suite"] as const;
export type Doubt = (typeof doubtValues)[number];

export const relationValues = ["changed","reached","unrelated","unknown"] as const;
export type Relation = (typeof relationValues)[number];

export const sourceValues = ["scratch","snapshot"] as const;
export type Source = (typeof sourceValues)[number];

export const stateValues = ["empty","indexing","ready","failed"] as const;
export type State = (typeof stateValues)[number];

export const observedValues = ["request","answer","decision","note","edit","tool","test","verdict","output","failure","impact","todo","compacted","handover"] as const;
export type Observed = (typeof observedValues)[number];

export const categoryValues = ["assertion","error","compile","setup","timeout","crash"] as const;
export type Category = (typeof categoryValues)[number];

/** Says how far an answer can be trusted. Always the first row. */
export interface Answer {
  /** false when the index it was read from is unfinished or partial */
  complete: boolean;
  /** why it is not complete, and what to do */
  reason: string | null;
  /** results found before limit and offset */
  total: number;
  /** files in the index that was searched */
  indexed: number;
  /** what was searched: shown when nothing was found */
  searched: string;
}

/** A file that answers a task. Order: score descending, path ascending. */
export interface RankedFile {
  /** the file */
  path: string;
  /** the sum of the channels, 0 or more */
  score: number;
  /** its strongest role */
  role: Role;
  /** calls between it and a match */
  hop: number;
  /** why it is here, strongest first */
  reasons: string[];
}

/** One channel's share of a score. Order: as the files, then share descending, channel ascending. */
export interface Channel {
  /** the file */
  path: string;
  /** the source of evidence */
  channel: string;
  /** its part of the score; may be negative */
  share: number;
}

/** A definition in an answer. Order: score descending, path, line ascending. */
export interface Symbol {
  /** the file */
  path: string;
  /** first line, 1-based */
  line: number;
  /** last line, inclusive */
  end: number | null;
  /** ctags' kind name */
  kind: string;
  /** the name */
  name: string;
  /** the enclosing names */
  scope: string | null;
  /** parameters */
  signature: string | null;
  /** why it is here */
  role: Role | null;
  /** calls between it and a match */
  hop: number;
  /** 0 or more */
  score: number;
  /** of the edge that led here; nothing for a match */
  certainty: Certainty | null;
}

/** A call between two symbols of an answer. Order: path, line, other-path, other-line ascending. */
export interface Related {
  /** the caller's file */
  path: string;
  /** the caller; <module> outside any definition */
  name: string;
  /** the line of the call */
  line: number;
  /** the callee's file */
  otherPath: string;
  /** the callee */
  otherName: string;
  /** the callee's first line */
  otherLine: number;
  /** of the edge */
  certainty: Certainty;
}

/** A definition. Order: path, line ascending, then name. */
export interface Tag {
  /** the file */
  path: string;
  /** the name */
  name: string;
  /** ctags' kind name */
  kind: string;
  /** first line, 1-based */
  line: number;
  /** last line, inclusive */
  end: number | null;
  /** the enclosing names */
  scope: string | null;
}

/** A resolved call. Order: caller-path, call-line ascending, then callee-path, callee-line. */
export interface Edge {
  /** the file of the call */
  callerPath: string;
  /** the definition the call stands in; <module> outside any */
  callerSymbol: string;
  /** the line of the call */
  callLine: number;
  /** the file of the callee */
  calleePath: string;
  /** the callee */
  calleeName: string;
  /** the callee's first line */
  calleeLine: number;
  /** how sure the edge is */
  certainty: Certainty;
  /** the rule that decided */
  rule: string;
}

/** What an index holds. */
export interface Totals {
  /** files indexed */
  files: number;
  /** definitions */
  tags: number;
  /** calls seen */
  callSites: number;
  /** calls resolved */
  edges: number;
  /** wall time of the last indexing */
  seconds: number;
  /** where it came from */
  from: Source;
  /** false when files are missing */
  complete: boolean;
  /** why it is not complete, and what to do */
  reason: string | null;
}

/** A language of the index. Order: files descending, name ascending. */
export interface Language {
  /** ctags' name of it */
  name: string;
  /** files */
  files: number;
  /** definitions */
  tags: number;
}

/** A file that was left out. Order: path ascending. */
export interface Skipped {
  /** the file */
  path: string;
  /** why */
  reason: string;
}

/** Where the index stands. */
export interface Status {
  /** of the index */
  state: State;
  /** what is being done */
  stage: string | null;
  /** files done in this stage */
  done: number;
  /** files of this stage */
  total: number;
  /** files in the published index */
  files: number;
  /** definitions in it */
  tags: number;
  /** of a failure */
  reason: string | null;
}

/** What a refresh did. */
export interface Refreshed {
  /** files read again or anew */
  changed: number;
  /** files that are gone */
  removed: number;
  /** wall time */
  seconds: number;
}

/** A value of an evaluated form. Order: as returned. */
export interface Value {
  /** printed */
  value: string;
  /** its type */
  type: string;
}

/** What an evaluation printed. */
export interface Output {
  /** standard and error output together, cut at a limit that it states */
  text: string;
}

/** Something worth knowing beside the values: threads that still run, another current package. Order: as found. */
export interface Remark {
  /** one line */
  text: string;
}

/** Something remembered. Order: score descending, age ascending, then text. */
export interface Recalled {
  /** over 0 */
  score: number;
  /** seconds since it happened */
  age: number;
  /** true when it happened in the session that asks */
  current: boolean;
  /** what it is */
  kind: Observed;
  /** the path, test, tool or symbol it is about */
  subject: string | null;
  /** failed, passed, add, change, delete, open, done */
  state: string | null;
  /** what was remembered */
  text: string;
  /** the session it happened in */
  session: string;
}

/** A session in few words. */
export interface Summary {
  /** the facts by section; nothing when there are none */
  text: string;
  /** facts in it */
  facts: number;
  /** about so many tokens */
  tokens: number;
}

/** A session of this project. Order: last active first, then id. */
export interface Session {
  /** the host's id of it */
  id: string;
  /** the session that started it as a subagent */
  parent: string | null;
  /** the commit it was last seen at */
  head: string | null;
  /** seconds since the last observation */
  age: number | null;
  /** how many there are */
  observations: number;
}

/** A fact of a session. Order: sections as in a summary, then by time. */
export interface Fact {
  /** what kind of fact */
  section: string;
  /** the fact */
  text: string;
}

/** What a change touches, in figures. The first row of its answer. */
export interface Impact {
  /** false when a reason row says why */
  complete: boolean;
  /** what was looked at: root and tree state, or what was asked */
  inspected: string;
  /** true when the roots are matches of a description, not of a diff */
  guessed: boolean;
  /** dependants in all; rows show the nearest */
  callers: number;
  /** those of them in test files */
  testCallers: number;
  /** test files in all */
  tests: number;
}

/** Why an answer is not complete. Order: as found. */
export interface Reason {
  /** which kind */
  doubt: Doubt;
  /** what and where */
  text: string;
}

/** A definition that the change touches. Order: of the diff. */
export interface Root {
  /** the file */
  path: string;
  /** first line, 1-based */
  line: number;
  /** last line, inclusive */
  end: number | null;
  /** kind; file for lines outside any definition */
  kind: string;
  /** the name */
  name: string;
  /** the enclosing names */
  scope: string | null;
  /** as the source declares it */
  signature: string | null;
  /** how */
  touched: Touched;
}

/** Somebody who calls a root, directly or not. Order: hop ascending, certainty, then path and line. */
export interface Dependant {
  /** the file */
  path: string;
  /** first line of the definition; of the call for <module> */
  line: number;
  /** last line, inclusive */
  end: number | null;
  /** kind; file for <module> */
  kind: string;
  /** the name; <module> outside any definition */
  name: string;
  /** the enclosing names */
  scope: string | null;
  /** the line of the call */
  callLine: number;
  /** calls between it and the root */
  hop: number;
  /** the weakest on the way */
  certainty: Certainty;
  /** the rule that decided the last call */
  rule: string;
  /** whether it stands in a test */
  test: boolean;
  /** names of the definitions between, nearest to the root first */
  via: string[];
}

/** A test file that would tell. Order: score descending, path ascending. */
export interface AffectedTest {
  /** the file */
  path: string;
  /** the sum of its evidence */
  score: number;
  /** that it exercises the change */
  certainty: Certainty;
  /** the strongest evidence in words */
  reason: string;
  /** tests concerned; none: the whole file */
  names: string[];
}

/** A file of the diff. Order: of the diff. */
export interface ChangedFile {
  /** where it is now, or was */
  path: string;
}

/** What a failure has to do with the change. Order: as asked. */
export interface Attributed {
  /** how */
  relation: Relation;
  /** path and line, and the way of calls */
  why: string;
}

/** One thing the doctor looked at. */
export interface Check {
  /** what */
  name: string;
  /** whether it is as it should be */
  ok: boolean;
  /** what was found */
  found: string;
  /** what to type when it is not */
  advice: string | null;
}

/** A test run as recorded. Order: newest first. */
export interface PastRun {
  /** number within this answer */
  run: number;
  /** what was run */
  scope: Scope;
  /** the folder it ran in, relative to the root */
  folder: string;
  /** the test runner */
  runner: string;
  /** how it ended */
  verdict: Verdict;
  /** wall time */
  seconds: number;
  /** the test files asked for; none for the full suite */
  files: string[];
}

/** What a captured log says. Always one. */
export interface Report {
  /** the test runner that wrote it; nothing when none was recognised */
  runner: string | null;
  /** never passed without a test that ran */
  verdict: Verdict;
  /** tests that passed, where the log states it */
  passed: number | null;
  /** failures and errors together, where the log states it */
  failed: number | null;
  /** tests that were skipped, where the log states it */
  skipped: number | null;
  /** the last lines, when no failure tells what went wrong */
  tail: string | null;
  /** all runners that were recognised, the one above first */
  runners: string[];
}

/** A failure in a log. Order: as in the log. */
export interface Failure {
  /** 1, 2, … */
  number: number;
  /** its name as the runner prints it, groups joined by ` > `; nothing where a compiler speaks */
  test: string | null;
  /** where it happened: relative to the root when it lies inside, else as printed, with forward slashes */
  path: string | null;
  /** 1-based */
  line: number | null;
  /** what kind of failure */
  category: Category;
  /** true when a whole file failed rather than a test of it */
  suite: boolean;
  /** what was expected and received, or what was thrown */
  message: string;
}

/** A frame of a failure's stack. Order: failure, then as printed. */
export interface Frame {
  /** the failure's number */
  failure: number;
  /** as a failure's */
  path: string | null;
  /** 1-based */
  line: number | null;
  /** as printed */
  function: string | null;
  /** true when it lies outside the project */
  foreign: boolean;
}

/** A test that failed in a recorded run. Order: as recorded. */
export interface PastFailure {
  /** the past-run it belongs to; 0 outside one */
  run: number;
  /** its name; nothing for a file that did not load */
  test: string | null;
  /** the test file */
  path: string | null;
}

/** What recorded runs teach of a symbol and a test. Order: symbol, path, test ascending. */
export interface Lesson {
  /** the changed symbol, path:name */
  symbol: string;
  /** the test file */
  path: string;
  /** a single test of it */
  test: string | null;
  /** runs in which it failed while the symbol had changed */
  failed: number;
  /** runs in which it passed */
  passed: number;
}

/** Something the sidecar wants written to the log; never part of an answer. */
export interface Note {
  /** note or warning */
  level: string;
  /** the message */
  text: string;
}

/** The row types by their names on the wire. */
export interface Structures {
  "answer": Answer;
  "ranked-file": RankedFile;
  "channel": Channel;
  "symbol": Symbol;
  "related": Related;
  "tag": Tag;
  "edge": Edge;
  "totals": Totals;
  "language": Language;
  "skipped": Skipped;
  "status": Status;
  "refreshed": Refreshed;
  "value": Value;
  "output": Output;
  "remark": Remark;
  "recalled": Recalled;
  "summary": Summary;
  "session": Session;
  "fact": Fact;
  "impact": Impact;
  "reason": Reason;
  "root": Root;
  "dependant": Dependant;
  "affected-test": AffectedTest;
  "changed-file": ChangedFile;
  "attributed": Attributed;
  "check": Check;
  "past-run": PastRun;
  "report": Report;
  "failure": Failure;
  "frame": Frame;
  "past-failure": PastFailure;
  "lesson": Lesson;
  "note": Note;
}

export type StructureName = keyof Structures;

/** What each operation takes and which rows it may answer with. */
export interface Operations {
  /** Fixes the root and starts indexing beside the queries. Answers at once. A second open of the same root changes nothing. */
  "open": {
    arguments: {
      /** absolute path of the root */
      root: string;
      /** the ctags program */
      ctags: string;
      /** absolute path of this root's cache folder; nothing: no snapshot is kept */
      cache: string | null;
      /** patterns as ctags --exclude takes them */
      excludes: string[];
    };
    rows: never;
  };
  /** Waits until the index is whole, then says what it holds. Progress: reading, tagging, scanning, linking. */
  "index": {
    arguments: {
      /** true ignores the snapshot */
      rebuild: boolean;
    };
    rows: "totals" | "language" | "skipped";
  };
  /** Waits until the index is whole. Progress: reading, tagging, scanning, linking. */
  "ready": {
    arguments: {
      /** true waits also until a new index is written to the cache folder */
      saved: boolean;
    };
    rows: never;
  };
  /** Where the index stands; answers at once. */
  "status": {
    arguments: {
    };
    rows: "status";
  };
  /** Reads the named files again; without any, looks at the whole tree. */
  "refresh": {
    arguments: {
      /** files that changed, appeared or vanished */
      paths: string[];
    };
    rows: "refreshed";
  };
  /** Files and symbols that answer a task, best first. */
  "context": {
    arguments: {
      /** the task or question in plain words */
      task: string;
      /** files at most */
      limit: number;
      /** files to leave out at the start */
      offset: number;
      /** true adds channel rows */
      explain: boolean;
    };
    rows: "answer" | "ranked-file" | "channel" | "symbol" | "related";
  };
  /** What likely matters to a turn of a session, best first, from what is there: the index as it is published and the history as far as it is read. Waits for the first index alone. */
  "places": {
    arguments: {
      /** the session whose turn it is */
      session: string;
      /** what the turn says */
      task: string;
      /** files at most */
      limit: number;
    };
    rows: "answer" | "ranked-file" | "symbol";
  };
  /** For hosts with sessions: the tables that places reads are made beside everything else, now and after each change. Answers at once. */
  "warm": {
    arguments: {
    };
    rows: never;
  };
  /** Symbols and paths that contain a text. */
  "search": {
    arguments: {
      /** part of a name or of a path, in any case */
      name: string;
      /** symbols at most */
      limit: number;
    };
    rows: "answer" | "symbol";
  };
  /** Every definition. */
  "symbols": {
    arguments: {
    };
    rows: "tag";
  };
  /** Every call site that was resolved. */
  "calls": {
    arguments: {
      /** true adds edges of certainty possible */
      possible: boolean;
    };
    rows: "edge";
  };
  /** What a change touches, who depends on it, which tests tell. Without diff, file and target: the working tree against HEAD. */
  "impact": {
    arguments: {
      /** a diff in any usual form */
      diff: string | null;
      /** absolute path of a file that holds the diff */
      file: string | null;
      /** path:line, a name, a revision or range of git, or a description */
      target: string | null;
      /** dependants at most; 0: the default */
      limit: number;
    };
    rows: "impact" | "reason" | "root" | "dependant" | "affected-test" | "changed-file";
  };
  /** What failures have to do with a change. */
  "attribute": {
    arguments: {
      /** the diff */
      diff: string;
      /** one each: TAB-separated test, path, line, then path:line of each frame; empty fields where nothing is known */
      failures: string[];
    };
    rows: "attributed";
  };
  /** Evaluates Lisp forms in the live image. State stays. */
  "evaluate": {
    arguments: {
      /** one or more forms */
      code: string;
      /** seconds; 0: the default */
      deadline: number;
      /** the session that asks: its memory is the one that the words of memory speak of; nothing: the one observed last */
      session: string | null;
    };
    rows: "value" | "output" | "remark";
  };
  /** Forgets what evaluated code defined. */
  "reset": {
    arguments: {
    };
    rows: never;
  };
  /** Fixes where the project's memory and kept definitions lie, and reads both. Sent once, before open; memory does not need an index. */
  "attach": {
    arguments: {
      /** absolute path of this root's cache folder; nothing: memory lasts as long as the process */
      cache: string | null;
    };
    rows: "remark";
  };
  /** Remembers that something happened, secrets taken out. Answers when it is written down. */
  "observe": {
    arguments: {
      /** the host's id of the session */
      session: string;
      /** the session that started it as a subagent */
      parent: string | null;
      /** the commit that is checked out */
      head: string | null;
      /** what happened */
      kind: Observed;
      /** the path, test, tool or symbol it is about */
      subject: string | null;
      /** failed, passed, add, change, delete, open, done */
      state: string | null;
      /** what is to be remembered */
      text: string;
    };
    rows: "remark";
  };
  /** What was remembered about something, in this session and others of the project. */
  "recall": {
    arguments: {
      /** the session that asks; nothing: the one observed last */
      session: string | null;
      /** a few words */
      query: string;
      /** rows at most */
      limit: number;
    };
    rows: "recalled";
  };
  /** Stores a note for this session and later ones. */
  "remember": {
    arguments: {
      /** as for recall */
      session: string | null;
      /** the note */
      text: string;
    };
    rows: never;
  };
  /** The facts of a session within a budget, for its compaction. */
  "summary": {
    arguments: {
      /** as for recall */
      session: string | null;
      /** tokens at most */
      tokens: number;
    };
    rows: "summary";
  };
  /** The facts of a session for a handover; no row when nothing is known. */
  "handover-facts": {
    arguments: {
      /** nothing: the session that was active last, whatever process it ran in */
      session: string | null;
      /** tokens at most */
      tokens: number;
    };
    rows: "session" | "fact";
  };
  /** The sessions known for this project. */
  "sessions": {
    arguments: {
    };
    rows: "session";
  };
  /** Adds a test run to the record of this root. */
  "record-run": {
    arguments: {
      /** absolute path of this root's cache folder */
      cache: string;
      /** a name of the content that was tested */
      tree: string;
      /** what was run */
      scope: Scope;
      /** the folder it ran in, relative to the root */
      folder: string;
      /** the test runner */
      runner: string;
      /** how it ended */
      verdict: Verdict;
      /** wall time */
      seconds: number;
      /** tests that passed, where it is known */
      passed: number | null;
      /** tests that failed, where it is known */
      failed: number | null;
      /** tests that were skipped, where it is known */
      skipped: number | null;
      /** the command as typed */
      command: string;
      /** TAB-separated: file path; failure test path; lesson symbol path test passed or failed */
      entries: string[];
    };
    rows: never;
  };
  /** The runs recorded at one state of the tree. */
  "past-runs": {
    arguments: {
      /** absolute path of this root's cache folder */
      cache: string;
      /** a name of the content */
      tree: string;
    };
    rows: "past-run" | "past-failure";
  };
  /** The tests whose newest run failed, the latest failure first. */
  "still-failing": {
    arguments: {
      /** absolute path of this root's cache folder */
      cache: string;
    };
    rows: "past-failure";
  };
  /** What the recorded runs teach of symbols and tests. */
  "lessons": {
    arguments: {
      /** absolute path of this root's cache folder */
      cache: string;
    };
    rows: "lesson";
  };
  /** What a captured log or machine-readable report says. Needs no index. */
  "failures": {
    arguments: {
      /** absolute path of the log */
      log: string;
      /** the runner that is known to have written it; an unknown name is no error */
      runner: string | null;
      /** the command's exit status; other than 0 never gives passed */
      exit: number | null;
      /** absolute path that the paths are made relative to */
      root: string | null;
    };
    rows: "report" | "failure" | "frame";
  };
  /** Checks what the sidecar can see: SBCL, threads, ctags and its features, git, caches. */
  "doctor": {
    arguments: {
      /** the ctags program */
      ctags: string;
    };
    rows: "check";
  };
}

export type OperationName = keyof Operations;

/** Name and type of each column, in wire order. */
export const columns: Record<StructureName, readonly (readonly [name: string, type: string])[]> = {
  "answer": [["complete","flag"],["reason","text?"],["total","natural"],["indexed","natural"],["searched","text"]],
  "ranked-file": [["path","path"],["score","decimal"],["role","role"],["hop","natural"],["reasons","text*"]],
  "channel": [["path","path"],["channel","text"],["share","decimal"]],
  "symbol": [["path","path"],["line","natural"],["end","natural?"],["kind","text"],["name","text"],["scope","text?"],["signature","text?"],["role","role?"],["hop","natural"],["score","decimal"],["certainty","certainty?"]],
  "related": [["path","path"],["name","text"],["line","natural"],["otherPath","path"],["otherName","text"],["otherLine","natural"],["certainty","certainty"]],
  "tag": [["path","path"],["name","text"],["kind","text"],["line","natural"],["end","natural?"],["scope","text?"]],
  "edge": [["callerPath","path"],["callerSymbol","text"],["callLine","natural"],["calleePath","path"],["calleeName","text"],["calleeLine","natural"],["certainty","certainty"],["rule","text"]],
  "totals": [["files","natural"],["tags","natural"],["callSites","natural"],["edges","natural"],["seconds","decimal"],["from","source"],["complete","flag"],["reason","text?"]],
  "language": [["name","text"],["files","natural"],["tags","natural"]],
  "skipped": [["path","path"],["reason","text"]],
  "status": [["state","state"],["stage","text?"],["done","natural"],["total","natural"],["files","natural"],["tags","natural"],["reason","text?"]],
  "refreshed": [["changed","natural"],["removed","natural"],["seconds","decimal"]],
  "value": [["value","text"],["type","text"]],
  "output": [["text","text"]],
  "remark": [["text","text"]],
  "recalled": [["score","decimal"],["age","natural"],["current","flag"],["kind","observed"],["subject","text?"],["state","text?"],["text","text"],["session","text"]],
  "summary": [["text","text"],["facts","natural"],["tokens","natural"]],
  "session": [["id","text"],["parent","text?"],["head","text?"],["age","natural?"],["observations","natural"]],
  "fact": [["section","text"],["text","text"]],
  "impact": [["complete","flag"],["inspected","text"],["guessed","flag"],["callers","natural"],["testCallers","natural"],["tests","natural"]],
  "reason": [["doubt","doubt"],["text","text"]],
  "root": [["path","path"],["line","natural"],["end","natural?"],["kind","text"],["name","text"],["scope","text?"],["signature","text?"],["touched","touched"]],
  "dependant": [["path","path"],["line","natural"],["end","natural?"],["kind","text"],["name","text"],["scope","text?"],["callLine","natural"],["hop","natural"],["certainty","certainty"],["rule","text"],["test","flag"],["via","text*"]],
  "affected-test": [["path","path"],["score","decimal"],["certainty","certainty"],["reason","text"],["names","text*"]],
  "changed-file": [["path","path"]],
  "attributed": [["relation","relation"],["why","text"]],
  "check": [["name","text"],["ok","flag"],["found","text"],["advice","text?"]],
  "past-run": [["run","natural"],["scope","scope"],["folder","text"],["runner","text"],["verdict","verdict"],["seconds","decimal"],["files","text*"]],
  "report": [["runner","text?"],["verdict","verdict"],["passed","natural?"],["failed","natural?"],["skipped","natural?"],["tail","text?"],["runners","text*"]],
  "failure": [["number","natural"],["test","text?"],["path","text?"],["line","natural?"],["category","category"],["suite","flag"],["message","text"]],
  "frame": [["failure","natural"],["path","text?"],["line","natural?"],["function","text?"],["foreign","flag"]],
  "past-failure": [["run","natural"],["test","text?"],["path","text?"]],
  "lesson": [["symbol","text"],["path","text"],["test","text?"],["failed","natural"],["passed","natural"]],
  "note": [["level","text"],["text","text"]],
};

export const operations: Record<
  OperationName,
  { lane: string; rows: readonly StructureName[]; arguments: readonly (readonly [name: string, type: string])[] }
> = {
  "open": { lane: "work", rows: [], arguments: [["root","text"],["ctags","text"],["cache","text?"],["excludes","text*"]] },
  "index": { lane: "work", rows: ["totals","language","skipped"], arguments: [["rebuild","flag"]] },
  "ready": { lane: "query", rows: [], arguments: [["saved","flag"]] },
  "status": { lane: "query", rows: ["status"], arguments: [] },
  "refresh": { lane: "work", rows: ["refreshed"], arguments: [["paths","path*"]] },
  "context": { lane: "query", rows: ["answer","ranked-file","channel","symbol","related"], arguments: [["task","text"],["limit","natural"],["offset","natural"],["explain","flag"]] },
  "places": { lane: "query", rows: ["answer","ranked-file","symbol"], arguments: [["session","text"],["task","text"],["limit","natural"]] },
  "warm": { lane: "query", rows: [], arguments: [] },
  "search": { lane: "query", rows: ["answer","symbol"], arguments: [["name","text"],["limit","natural"]] },
  "symbols": { lane: "query", rows: ["tag"], arguments: [] },
  "calls": { lane: "query", rows: ["edge"], arguments: [["possible","flag"]] },
  "impact": { lane: "query", rows: ["impact","reason","root","dependant","affected-test","changed-file"], arguments: [["diff","text?"],["file","text?"],["target","text?"],["limit","natural"]] },
  "attribute": { lane: "query", rows: ["attributed"], arguments: [["diff","text"],["failures","text*"]] },
  "evaluate": { lane: "evaluation", rows: ["value","output","remark"], arguments: [["code","text"],["deadline","natural"],["session","text?"]] },
  "reset": { lane: "evaluation", rows: [], arguments: [] },
  "attach": { lane: "query", rows: ["remark"], arguments: [["cache","text?"]] },
  "observe": { lane: "query", rows: ["remark"], arguments: [["session","text"],["parent","text?"],["head","text?"],["kind","observed"],["subject","text?"],["state","text?"],["text","text"]] },
  "recall": { lane: "query", rows: ["recalled"], arguments: [["session","text?"],["query","text"],["limit","natural"]] },
  "remember": { lane: "query", rows: [], arguments: [["session","text?"],["text","text"]] },
  "summary": { lane: "query", rows: ["summary"], arguments: [["session","text?"],["tokens","natural"]] },
  "handover-facts": { lane: "query", rows: ["session","fact"], arguments: [["session","text?"],["tokens","natural"]] },
  "sessions": { lane: "query", rows: ["session"], arguments: [] },
  "record-run": { lane: "work", rows: [], arguments: [["cache","text"],["tree","text"],["scope","scope"],["folder","text"],["runner","text"],["verdict","verdict"],["seconds","decimal"],["passed","natural?"],["failed","natural?"],["skipped","natural?"],["command","text"],["entries","text*"]] },
  "past-runs": { lane: "query", rows: ["past-run","past-failure"], arguments: [["cache","text"],["tree","text"]] },
  "still-failing": { lane: "query", rows: ["past-failure"], arguments: [["cache","text"]] },
  "lessons": { lane: "query", rows: ["lesson"], arguments: [["cache","text"]] },
  "failures": { lane: "query", rows: ["report","failure","frame"], arguments: [["log","text"],["runner","text?"],["exit","natural?"],["root","text?"]] },
  "doctor": { lane: "query", rows: ["check"], arguments: [["ctags","text"]] },
};

/** JSON Schemas of the rows. */
export const rowSchemas: Record<StructureName, object> = {
  "answer": {"type":"object","properties":{"complete":{"type":"boolean"},"reason":{"anyOf":[{"type":"null"},{"type":"string"}]},"total":{"type":"integer","minimum":0},"indexed":{"type":"integer","minimum":0},"searched":{"type":"string"}},"required":["complete","reason","total","indexed","searched"],"additionalProperties":false},
  "ranked-file": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"score":{"type":"number"},"role":{"enum":["match","caller","callee","defines","same-file","test","history","lexical"]},"hop":{"type":"integer","minimum":0},"reasons":{"type":"array","items":{"type":"string"}}},"required":["path","score","role","hop","reasons"],"additionalProperties":false},
  "channel": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"channel":{"type":"string"},"share":{"type":"number"}},"required":["path","channel","share"],"additionalProperties":false},
  "symbol": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"line":{"type":"integer","minimum":0},"end":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"kind":{"type":"string"},"name":{"type":"string"},"scope":{"anyOf":[{"type":"null"},{"type":"string"}]},"signature":{"anyOf":[{"type":"null"},{"type":"string"}]},"role":{"anyOf":[{"type":"null"},{"enum":["match","caller","callee","defines","same-file","test","history","lexical"]}]},"hop":{"type":"integer","minimum":0},"score":{"type":"number"},"certainty":{"anyOf":[{"type":"null"},{"enum":["exact","likely","possible"]}]}},"required":["path","line","end","kind","name","scope","signature","role","hop","score","certainty"],"additionalProperties":false},
  "related": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"name":{"type":"string"},"line":{"type":"integer","minimum":0},"otherPath":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"otherName":{"type":"string"},"otherLine":{"type":"integer","minimum":0},"certainty":{"enum":["exact","likely","possible"]}},"required":["path","name","line","otherPath","otherName","otherLine","certainty"],"additionalProperties":false},
  "tag": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"name":{"type":"string"},"kind":{"type":"string"},"line":{"type":"integer","minimum":0},"end":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"scope":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["path","name","kind","line","end","scope"],"additionalProperties":false},
  "edge": {"type":"object","properties":{"callerPath":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"callerSymbol":{"type":"string"},"callLine":{"type":"integer","minimum":0},"calleePath":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"calleeName":{"type":"string"},"calleeLine":{"type":"integer","minimum":0},"certainty":{"enum":["exact","likely","possible"]},"rule":{"type":"string"}},"required":["callerPath","callerSymbol","callLine","calleePath","calleeName","calleeLine","certainty","rule"],"additionalProperties":false},
  "totals": {"type":"object","properties":{"files":{"type":"integer","minimum":0},"tags":{"type":"integer","minimum":0},"callSites":{"type":"integer","minimum":0},"edges":{"type":"integer","minimum":0},"seconds":{"type":"number"},"from":{"enum":["scratch","snapshot"]},"complete":{"type":"boolean"},"reason":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["files","tags","callSites","edges","seconds","from","complete","reason"],"additionalProperties":false},
  "language": {"type":"object","properties":{"name":{"type":"string"},"files":{"type":"integer","minimum":0},"tags":{"type":"integer","minimum":0}},"required":["name","files","tags"],"additionalProperties":false},
  "skipped": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"reason":{"type":"string"}},"required":["path","reason"],"additionalProperties":false},
  "status": {"type":"object","properties":{"state":{"enum":["empty","indexing","ready","failed"]},"stage":{"anyOf":[{"type":"null"},{"type":"string"}]},"done":{"type":"integer","minimum":0},"total":{"type":"integer","minimum":0},"files":{"type":"integer","minimum":0},"tags":{"type":"integer","minimum":0},"reason":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["state","stage","done","total","files","tags","reason"],"additionalProperties":false},
  "refreshed": {"type":"object","properties":{"changed":{"type":"integer","minimum":0},"removed":{"type":"integer","minimum":0},"seconds":{"type":"number"}},"required":["changed","removed","seconds"],"additionalProperties":false},
  "value": {"type":"object","properties":{"value":{"type":"string"},"type":{"type":"string"}},"required":["value","type"],"additionalProperties":false},
  "output": {"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false},
  "remark": {"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false},
  "recalled": {"type":"object","properties":{"score":{"type":"number"},"age":{"type":"integer","minimum":0},"current":{"type":"boolean"},"kind":{"enum":["request","answer","decision","note","edit","tool","test","verdict","output","failure","impact","todo","compacted","handover"]},"subject":{"anyOf":[{"type":"null"},{"type":"string"}]},"state":{"anyOf":[{"type":"null"},{"type":"string"}]},"text":{"type":"string"},"session":{"type":"string"}},"required":["score","age","current","kind","subject","state","text","session"],"additionalProperties":false},
  "summary": {"type":"object","properties":{"text":{"type":"string"},"facts":{"type":"integer","minimum":0},"tokens":{"type":"integer","minimum":0}},"required":["text","facts","tokens"],"additionalProperties":false},
  "session": {"type":"object","properties":{"id":{"type":"string"},"parent":{"anyOf":[{"type":"null"},{"type":"string"}]},"head":{"anyOf":[{"type":"null"},{"type":"string"}]},"age":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"observations":{"type":"integer","minimum":0}},"required":["id","parent","head","age","observations"],"additionalProperties":false},
  "fact": {"type":"object","properties":{"section":{"type":"string"},"text":{"type":"string"}},"required":["section","text"],"additionalProperties":false},
  "impact": {"type":"object","properties":{"complete":{"type":"boolean"},"inspected":{"type":"string"},"guessed":{"type":"boolean"},"callers":{"type":"integer","minimum":0},"testCallers":{"type":"integer","minimum":0},"tests":{"type":"integer","minimum":0}},"required":["complete","inspected","guessed","callers","testCallers","tests"],"additionalProperties":false},
  "reason": {"type":"object","properties":{"doubt":{"enum":["incomplete","full-suite"]},"text":{"type":"string"}},"required":["doubt","text"],"additionalProperties":false},
  "root": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"line":{"type":"integer","minimum":0},"end":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"kind":{"type":"string"},"name":{"type":"string"},"scope":{"anyOf":[{"type":"null"},{"type":"string"}]},"signature":{"anyOf":[{"type":"null"},{"type":"string"}]},"touched":{"enum":["body","signature","added","deleted","module"]}},"required":["path","line","end","kind","name","scope","signature","touched"],"additionalProperties":false},
  "dependant": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"line":{"type":"integer","minimum":0},"end":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"kind":{"type":"string"},"name":{"type":"string"},"scope":{"anyOf":[{"type":"null"},{"type":"string"}]},"callLine":{"type":"integer","minimum":0},"hop":{"type":"integer","minimum":0},"certainty":{"enum":["exact","likely","possible"]},"rule":{"type":"string"},"test":{"type":"boolean"},"via":{"type":"array","items":{"type":"string"}}},"required":["path","line","end","kind","name","scope","callLine","hop","certainty","rule","test","via"],"additionalProperties":false},
  "affected-test": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"},"score":{"type":"number"},"certainty":{"enum":["exact","likely","possible"]},"reason":{"type":"string"},"names":{"type":"array","items":{"type":"string"}}},"required":["path","score","certainty","reason","names"],"additionalProperties":false},
  "changed-file": {"type":"object","properties":{"path":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"}},"required":["path"],"additionalProperties":false},
  "attributed": {"type":"object","properties":{"relation":{"enum":["changed","reached","unrelated","unknown"]},"why":{"type":"string"}},"required":["relation","why"],"additionalProperties":false},
  "check": {"type":"object","properties":{"name":{"type":"string"},"ok":{"type":"boolean"},"found":{"type":"string"},"advice":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["name","ok","found","advice"],"additionalProperties":false},
  "past-run": {"type":"object","properties":{"run":{"type":"integer","minimum":0},"scope":{"enum":["targeted","full"]},"folder":{"type":"string"},"runner":{"type":"string"},"verdict":{"enum":["passed","failed","no-tests-ran","compile-error","setup-error","timeout","cancelled","unparsed"]},"seconds":{"type":"number"},"files":{"type":"array","items":{"type":"string"}}},"required":["run","scope","folder","runner","verdict","seconds","files"],"additionalProperties":false},
  "report": {"type":"object","properties":{"runner":{"anyOf":[{"type":"null"},{"type":"string"}]},"verdict":{"enum":["passed","failed","no-tests-ran","compile-error","setup-error","timeout","cancelled","unparsed"]},"passed":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"failed":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"skipped":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"tail":{"anyOf":[{"type":"null"},{"type":"string"}]},"runners":{"type":"array","items":{"type":"string"}}},"required":["runner","verdict","passed","failed","skipped","tail","runners"],"additionalProperties":false},
  "failure": {"type":"object","properties":{"number":{"type":"integer","minimum":0},"test":{"anyOf":[{"type":"null"},{"type":"string"}]},"path":{"anyOf":[{"type":"null"},{"type":"string"}]},"line":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"category":{"enum":["assertion","error","compile","setup","timeout","crash"]},"suite":{"type":"boolean"},"message":{"type":"string"}},"required":["number","test","path","line","category","suite","message"],"additionalProperties":false},
  "frame": {"type":"object","properties":{"failure":{"type":"integer","minimum":0},"path":{"anyOf":[{"type":"null"},{"type":"string"}]},"line":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"function":{"anyOf":[{"type":"null"},{"type":"string"}]},"foreign":{"type":"boolean"}},"required":["failure","path","line","function","foreign"],"additionalProperties":false},
  "past-failure": {"type":"object","properties":{"run":{"type":"integer","minimum":0},"test":{"anyOf":[{"type":"null"},{"type":"string"}]},"path":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["run","test","path"],"additionalProperties":false},
  "lesson": {"type":"object","properties":{"symbol":{"type":"string"},"path":{"type":"string"},"test":{"anyOf":[{"type":"null"},{"type":"string"}]},"failed":{"type":"integer","minimum":0},"passed":{"type":"integer","minimum":0}},"required":["symbol","path","test","failed","passed"],"additionalProperties":false},
  "note": {"type":"object","properties":{"level":{"type":"string"},"text":{"type":"string"}},"required":["level","text"],"additionalProperties":false},
};

/** JSON Schemas of the arguments. */
export const argumentSchemas: Record<OperationName, object> = {
  "open": {"type":"object","properties":{"root":{"type":"string"},"ctags":{"type":"string"},"cache":{"anyOf":[{"type":"null"},{"type":"string"}]},"excludes":{"type":"array","items":{"type":"string"}}},"required":["root","ctags","cache","excludes"],"additionalProperties":false},
  "index": {"type":"object","properties":{"rebuild":{"type":"boolean"}},"required":["rebuild"],"additionalProperties":false},
  "ready": {"type":"object","properties":{"saved":{"type":"boolean"}},"required":["saved"],"additionalProperties":false},
  "status": {"type":"object","properties":{},"required":[],"additionalProperties":false},
  "refresh": {"type":"object","properties":{"paths":{"type":"array","items":{"type":"string","minLength":1,"pattern":"^(?!/)(?!([^]*/)?\\.\\.(/|$))"}}},"required":["paths"],"additionalProperties":false},
  "context": {"type":"object","properties":{"task":{"type":"string"},"limit":{"type":"integer","minimum":0},"offset":{"type":"integer","minimum":0},"explain":{"type":"boolean"}},"required":["task","limit","offset","explain"],"additionalProperties":false},
  "places": {"type":"object","properties":{"session":{"type":"string"},"task":{"type":"string"},"limit":{"type":"integer","minimum":0}},"required":["session","task","limit"],"additionalProperties":false},
  "warm": {"type":"object","properties":{},"required":[],"additionalProperties":false},
  "search": {"type":"object","properties":{"name":{"type":"string"},"limit":{"type":"integer","minimum":0}},"required":["name","limit"],"additionalProperties":false},
  "symbols": {"type":"object","properties":{},"required":[],"additionalProperties":false},
  "calls": {"type":"object","properties":{"possible":{"type":"boolean"}},"required":["possible"],"additionalProperties":false},
  "impact": {"type":"object","properties":{"diff":{"anyOf":[{"type":"null"},{"type":"string"}]},"file":{"anyOf":[{"type":"null"},{"type":"string"}]},"target":{"anyOf":[{"type":"null"},{"type":"string"}]},"limit":{"type":"integer","minimum":0}},"required":["diff","file","target","limit"],"additionalProperties":false},
  "attribute": {"type":"object","properties":{"diff":{"type":"string"},"failures":{"type":"array","items":{"type":"string"}}},"required":["diff","failures"],"additionalProperties":false},
  "evaluate": {"type":"object","properties":{"code":{"type":"string"},"deadline":{"type":"integer","minimum":0},"session":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["code","deadline","session"],"additionalProperties":false},
  "reset": {"type":"object","properties":{},"required":[],"additionalProperties":false},
  "attach": {"type":"object","properties":{"cache":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["cache"],"additionalProperties":false},
  "observe": {"type":"object","properties":{"session":{"type":"string"},"parent":{"anyOf":[{"type":"null"},{"type":"string"}]},"head":{"anyOf":[{"type":"null"},{"type":"string"}]},"kind":{"enum":["request","answer","decision","note","edit","tool","test","verdict","output","failure","impact","todo","compacted","handover"]},"subject":{"anyOf":[{"type":"null"},{"type":"string"}]},"state":{"anyOf":[{"type":"null"},{"type":"string"}]},"text":{"type":"string"}},"required":["session","parent","head","kind","subject","state","text"],"additionalProperties":false},
  "recall": {"type":"object","properties":{"session":{"anyOf":[{"type":"null"},{"type":"string"}]},"query":{"type":"string"},"limit":{"type":"integer","minimum":0}},"required":["session","query","limit"],"additionalProperties":false},
  "remember": {"type":"object","properties":{"session":{"anyOf":[{"type":"null"},{"type":"string"}]},"text":{"type":"string"}},"required":["session","text"],"additionalProperties":false},
  "summary": {"type":"object","properties":{"session":{"anyOf":[{"type":"null"},{"type":"string"}]},"tokens":{"type":"integer","minimum":0}},"required":["session","tokens"],"additionalProperties":false},
  "handover-facts": {"type":"object","properties":{"session":{"anyOf":[{"type":"null"},{"type":"string"}]},"tokens":{"type":"integer","minimum":0}},"required":["session","tokens"],"additionalProperties":false},
  "sessions": {"type":"object","properties":{},"required":[],"additionalProperties":false},
  "record-run": {"type":"object","properties":{"cache":{"type":"string"},"tree":{"type":"string"},"scope":{"enum":["targeted","full"]},"folder":{"type":"string"},"runner":{"type":"string"},"verdict":{"enum":["passed","failed","no-tests-ran","compile-error","setup-error","timeout","cancelled","unparsed"]},"seconds":{"type":"number"},"passed":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"failed":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"skipped":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"command":{"type":"string"},"entries":{"type":"array","items":{"type":"string"}}},"required":["cache","tree","scope","folder","runner","verdict","seconds","passed","failed","skipped","command","entries"],"additionalProperties":false},
  "past-runs": {"type":"object","properties":{"cache":{"type":"string"},"tree":{"type":"string"}},"required":["cache","tree"],"additionalProperties":false},
  "still-failing": {"type":"object","properties":{"cache":{"type":"string"}},"required":["cache"],"additionalProperties":false},
  "lessons": {"type":"object","properties":{"cache":{"type":"string"}},"required":["cache"],"additionalProperties":false},
  "failures": {"type":"object","properties":{"log":{"type":"string"},"runner":{"anyOf":[{"type":"null"},{"type":"string"}]},"exit":{"anyOf":[{"type":"null"},{"type":"integer","minimum":0}]},"root":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["log","runner","exit","root"],"additionalProperties":false},
  "doctor": {"type":"object","properties":{"ctags":{"type":"string"}},"required":["ctags"],"additionalProperties":false},
};

export const errorCodes = ["bad-request","unknown-operation","bad-argument","too-long","busy","cancelled","not-open","not-ready","not-found","ctags-missing","ctags-wrong","evaluation","deadline","stuck","exhausted","not-implemented","internal"] as const;
export type ErrorCode = (typeof errorCodes)[number];

export const events = ["note"] as const;

/** Patterns of paths whose change no call or import shows; not `read`: it changes no test. */
export const outsideRules: readonly { readonly read: boolean; readonly why: string; readonly patterns: readonly string[] }[] = [
  {"read":true,"why":"test data or a snapshot, read by tests without naming it in code","patterns":["fixture/","fixtures/","__fixtures__/","testdata/","test-data/","test_data/","golden/","goldens/","__snapshots__/","cassettes/","samples/","*.snap"]},
  {"read":false,"why":"documents and settings of editors and of git change no test","patterns":["README","README.*","CHANGELOG","CHANGELOG.*","CHANGES","CHANGES.*","HISTORY","HISTORY.*","CONTRIBUTING","CONTRIBUTING.*","LICENSE","LICENSE.*","LICENCE","LICENCE.*","COPYING","COPYING.*","AUTHORS","AUTHORS.*","CODEOWNERS","CODEOWNERS.*","CODE_OF_CONDUCT","CODE_OF_CONDUCT.*","SECURITY","SECURITY.*","NOTICE","NOTICE.*","AGENTS","AGENTS.*","CLAUDE","CLAUDE.*","TODO","TODO.*","*.md","*.mdx","*.markdown","*.rst","*.adoc","/.github/","/.vscode/","/.idea/","/.devcontainer/","/.husky/","/.circleci/","/doc/","/docs/",".gitignore",".gitattributes",".editorconfig",".prettierrc",".prettierrc.*",".eslintrc",".eslintrc.*",".eslintignore",".dockerignore",".mailmap",".gitkeep"]},
  {"read":true,"why":"a lock file: any dependency may behave otherwise","patterns":["package-lock.json","npm-shrinkwrap.json","yarn.lock","pnpm-lock.yaml","bun.lock","bun.lockb","deno.lock","poetry.lock","uv.lock","pdm.lock","Pipfile.lock","Cargo.lock","go.sum","go.work.sum","Gemfile.lock","composer.lock","mix.lock","rebar.lock","pubspec.lock","Package.resolved","gradle.lockfile","packages.lock.json","flake.lock","stack.yaml.lock","manifest.toml","Manifest.toml"]},
  {"read":true,"why":"a manifest: dependencies, scripts or build settings","patterns":["package.json","pyproject.toml","setup.py","setup.cfg","requirements*.txt","constraints*.txt","Pipfile","go.mod","go.work","Cargo.toml","Gemfile","*.gemspec","composer.json","mix.exs","rebar.config","pubspec.yaml","Package.swift","pom.xml","*.gradle","*.gradle.kts","gradle.properties","build.sbt","*.csproj","*.fsproj","*.vbproj","*.sln","*.cabal","*.props","*.targets","stack.yaml","dune","dune-project","build.zig","build.zig.zon","gleam.toml","deno.json","deno.jsonc","pnpm-workspace.yaml","lerna.json","Project.toml"]},
  {"read":true,"why":"build or test configuration","patterns":["tsconfig*.json","jsconfig*.json","babel.config.*",".babelrc",".babelrc.*",".swcrc","vite.config.*","vite.conf.*","vite.workspace.*","vitest.config.*","vitest.conf.*","vitest.workspace.*","jest.config.*","jest.conf.*","jest.workspace.*","playwright.config.*","playwright.conf.*","playwright.workspace.*","cypress.config.*","cypress.conf.*","cypress.workspace.*","karma.config.*","karma.conf.*","karma.workspace.*","webpack.config.*","webpack.conf.*","webpack.workspace.*","rollup.config.*","rollup.conf.*","rollup.workspace.*","esbuild.config.*","esbuild.conf.*","esbuild.workspace.*","ava.config.*","ava.conf.*","ava.workspace.*","metro.config.*","metro.conf.*","metro.workspace.*","next.config.*","next.conf.*","next.workspace.*","nuxt.config.*","nuxt.conf.*","nuxt.workspace.*","svelte.config.*","svelte.conf.*","svelte.workspace.*","astro.config.*","astro.conf.*","astro.workspace.*","wdio.config.*","wdio.conf.*","wdio.workspace.*","vitest.config-*.*","jest.config-*.*",".mocharc",".mocharc.*",".taprc","pytest.ini","tox.ini","noxfile.py",".coveragerc",".rspec","phpunit*.xml","phpunit*.xml.dist","CMakeLists.txt","*.cmake","meson.build","meson_options.txt","GNUmakefile","Makefile","makefile","Rakefile","justfile","Taskfile.yml","Taskfile.yaml","BUILD","BUILD.bazel","WORKSPACE","WORKSPACE.bazel","MODULE.bazel","BUCK","pants.toml","nx.json","turbo.json","turbo.jsonc","project.json","Dockerfile*","compose*.yml","compose*.yaml","docker-compose*.yml","docker-compose*.yaml",".env",".env.*",".npmrc",".nvmrc",".node-version",".python-version",".ruby-version",".tool-versions","rust-toolchain","rust-toolchain.toml","config.toml"]},
  {"read":true,"why":"shared test set-up, used by tests without naming it","patterns":["conftest.py","test_helper.exs","spec_helper.rb","test_helper.rb","rails_helper.rb","setuptest.*","setuptests.*","setupTests.*","setup-test.*","setup-tests.*","setup-Tests.*","setup_test.*","setup_tests.*","setup_Tests.*","setup.test.*","setup.tests.*","setup.Tests.*","jestsetup.*","jest-setup.*","jest_setup.*","jest.setup.*","vitestsetup.*","vitest-setup.*","vitest_setup.*","vitest.setup.*","mochasetup.*","mocha-setup.*","mocha_setup.*","mocha.setup.*","testsetup.*","test-setup.*","test_setup.*","test.setup.*","test_helper.sh","test_helper.bash","setup_suite.bash","Pest.php","TestCase.php","bootstrap.php","__mocks__/"]},
  {"read":true,"why":"a template, read at run time","patterns":["*.hbs","*.handlebars","*.mustache","*.ejs","*.pug","*.jade","*.liquid","*.njk","*.jinja","*.jinja2","*.j2","*.tmpl","*.tpl","*.gotmpl","*.erb","*.haml","*.slim","*.twig","*.blade.php","*.mako","*.ftl","*.jsp","*.cshtml","*.razor","*.heex","*.eex","*.leex","templates/*.html","templates/*.htm","templates/*.txt","templates/*.xml"]},
  {"read":true,"why":"a schema, migration or generated interface","patterns":["*.sql","*.prisma","*.proto","*.graphql","*.gql","*.thrift","*.avsc","*.xsd","*.fbs","*.capnp"]},
  {"read":true,"why":"data, read at run time","patterns":["*.json","*.json5","*.jsonc","*.yml","*.yaml","*.toml","*.ini","*.csv","*.tsv","*.xml","*.properties","*.conf","*.cfg","*.txt","*.htm","*.html","*.css","*.scss","*.sass","*.less","*.po","*.pot","*.mo","*.wasm","*.db","*.sqlite","*.sqlite3","*.bin","*.dat","*.pem","*.crt","*.key","*.svg","*.png","*.jpg","*.jpeg","*.gif","*.webp","*.ico","*.pdf","*.zip","*.gz"]},
];
