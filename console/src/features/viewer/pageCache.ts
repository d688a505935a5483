/** The last few pages that were decoded; what is dropped is freed. */
export class PageCache<Page> {
  readonly #pages = new Map<string, Page>();

  constructor(
    private readonly most: number,
    private readonly free: (page: Page) => void,
  ) {}

  get(name: string): Page | undefined {
    const page = this.#pages.get(name);
    if (page === undefined) return undefined;
    this.#pages.delete(name);
    this.#pages.set(name, page);
    return page;
  }

  put(name: string, page: Page): void {
    this.#drop(name);
    this.#pages.set(name, page);
    if (this.#pages.size > this.most) this.#drop(this.#pages.keys().next().value!);
  }

  clear(): void {
    for (const name of [...this.#pages.keys()]) this.#drop(name);
  }

  #drop(name: string): void {
    const page = this.#pages.get(name);
    this.#pages.delete(name);
    if (page !== undefined) this.free(page);
  }
}
