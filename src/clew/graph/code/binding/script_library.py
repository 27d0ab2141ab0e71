"""Types of the standard library of JavaScript through which values of a project pass. Everything else is outside of the
project, and so are its results."""

MODULES = {
    "?es": """
interface Object {}
interface Function { call(t: any, ...a: any[]): any; apply(t: any, a: any): any; bind(t: any, ...a: any[]): any; }
interface String { length: Number; split(s: any): Array<String>; [Symbol.iterator](): Iterator<String>; }
interface Number {}
interface Boolean {}
interface Symbol {}
interface RegExp {}
interface Date {}
interface Iterable<T> {}
interface Iterator<T> extends Iterable<T> { next(): { value: T; done: boolean } }
interface AsyncIterable<T> {}
interface AsyncIterator<T> extends AsyncIterable<T> {}
interface Awaitable<T> {}
interface Predicate<T> extends Boolean {}
class GeneratorOf<T> extends Iterator<T> {}
class AsyncGeneratorOf<T> extends AsyncIterator<T> {}
type IterableIterator<T> = Iterator<T>
type Generator<T> = GeneratorOf<T>
type AsyncGenerator<T> = AsyncGeneratorOf<T>
type PromiseLike<T> = Promise<T>
class Promise<T> extends Awaitable<T> {
  constructor(f: (resolve: (v: T) => void, reject: (e: any) => void) => void);
  then<U>(f: (v: T) => U, g?: (e: any) => any): Promise<U>;
  catch<U>(f: (e: any) => U): Promise<T>;
  finally(f: () => void): Promise<T>;
  static resolve<T>(v: T): Promise<T>;
  static reject(v: any): Promise<any>;
  static all<T>(v: Iterable<Promise<T>>): Promise<Array<T>>;
  static race<T>(v: Iterable<Promise<T>>): Promise<T>;
}
class Array<T> extends Iterable<T> {
  constructor(...items: T[]);
  length: Number;
  __getitem__(i: Number): T;
  at(i: Number): T;
  push(...items: T[]): Number;
  unshift(...items: T[]): Number;
  pop(): T;
  shift(): T;
  slice(a?: Number, b?: Number): Array<T>;
  splice(a: Number, b?: Number, ...items: T[]): Array<T>;
  concat(...items: any[]): Array<T>;
  reverse(): Array<T>;
  toReversed(): Array<T>;
  sort(f?: (a: T, b: T) => Number): Array<T>;
  toSorted(f?: (a: T, b: T) => Number): Array<T>;
  fill(v: T): Array<T>;
  join(s?: String): String;
  includes(v: T): Boolean;
  indexOf(v: T): Number;
  lastIndexOf(v: T): Number;
  forEach(f: (v: T, i: Number, a: Array<T>) => void): void;
  map<U>(f: (v: T, i: Number, a: Array<T>) => U): Array<U>;
  flatMap<U>(f: (v: T, i: Number, a: Array<T>) => Array<U>): Array<U>;
  filter(f: (v: T, i: Number, a: Array<T>) => Boolean): Array<T>;
  find(f: (v: T, i: Number, a: Array<T>) => Boolean): T;
  findLast(f: (v: T, i: Number, a: Array<T>) => Boolean): T;
  findIndex(f: (v: T, i: Number, a: Array<T>) => Boolean): Number;
  findLastIndex(f: (v: T, i: Number, a: Array<T>) => Boolean): Number;
  some(f: (v: T, i: Number, a: Array<T>) => Boolean): Boolean;
  every(f: (v: T, i: Number, a: Array<T>) => Boolean): Boolean;
  reduce<U>(f: (sum: U, v: T, i: Number, a: Array<T>) => U, first: U): U;
  reduceRight<U>(f: (sum: U, v: T, i: Number, a: Array<T>) => U, first: U): U;
  entries(): Iterator<[Number, T]>;
  keys(): Iterator<Number>;
  values(): Iterator<T>;
  flat(): Array<any>;
  static from<T>(v: Iterable<T>): Array<T>;
  static of<T>(...v: T[]): Array<T>;
  static isArray(v: any): Boolean;
}
type ReadonlyArray<T> = Array<T>
type ArrayLike<T> = Array<T>
class Tuple<T> extends Array<T> {}
class Map<K, V> extends Iterable<[K, V]> {
  constructor(v?: Iterable<[K, V]>);
  size: Number;
  get(k: K): V;
  set(k: K, v: V): Map<K, V>;
  has(k: K): Boolean;
  delete(k: K): Boolean;
  clear(): void;
  forEach(f: (v: V, k: K, m: Map<K, V>) => void): void;
  keys(): Iterator<K>;
  values(): Iterator<V>;
  entries(): Iterator<[K, V]>;
}
type ReadonlyMap<K, V> = Map<K, V>
class WeakMap<K, V> extends Map<K, V> {}
class Set<T> extends Iterable<T> {
  constructor(v?: Iterable<T>);
  size: Number;
  add(v: T): Set<T>;
  has(v: T): Boolean;
  delete(v: T): Boolean;
  clear(): void;
  forEach(f: (v: T, k: T, s: Set<T>) => void): void;
  keys(): Iterator<T>;
  values(): Iterator<T>;
  entries(): Iterator<[T, T]>;
}
type ReadonlySet<T> = Set<T>
class WeakSet<T> extends Set<T> {}
class WeakRef<T> { constructor(v: T); deref(): T; }
class Record<K, V> { __getitem__(k: K): V; }
class Object {
  static keys(o: any): Array<String>;
  static values<V>(o: Record<any, V>): Array<V>;
  static entries<V>(o: Record<any, V>): Array<[String, V]>;
  static freeze<T>(o: T): T;
  static seal<T>(o: T): T;
  static assign<T>(o: T, ...more: any[]): T;
  static create<T>(o: T): T;
}
class Error { message: String; name: String; stack: String; cause: any; }
class TypeError extends Error {}
class RangeError extends Error {}
function structuredClone<T>(v: T): T;
type Partial<T> = T
type Required<T> = T
type Readonly<T> = T
type Pick<T, K> = T
type Omit<T, K> = T
type Extract<T, U> = T
type Exclude<T, U> = T
type NonNullable<T> = T
type NoInfer<T> = T
""",
}  # fmt: skip
