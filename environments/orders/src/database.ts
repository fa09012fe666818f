import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Rows, Tables } from './rows.ts'

type Value = string | number | null

const schema = `
create table customers (email text primary key, name text not null, tier text not null, credit integer not null check (credit >= 0)) strict, without rowid;
create table products (sku text primary key, name text not null, variant text not null, price integer not null, stock integer not null check (stock >= 0), final_sale integer not null) strict, without rowid;
create table orders (id text primary key, email text not null, status text not null, placed text not null, ships text not null, delivered text, address text not null, voucher text) strict, without rowid;
create table lines (order_id text not null, line integer not null, sku text not null, paid integer not null check (paid >= 0), status text not null, primary key (order_id, line)) strict, without rowid;
create table payments (order_id text not null, kind text not null, method text not null, amount integer not null check (amount > 0)) strict;
create table vouchers (code text primary key, percent integer not null, least integer not null, expires text not null, used integer not null) strict, without rowid;
create table tickets (number text not null, topic text not null, order_id text, note text not null) strict;
create table mails (email text not null, order_id text not null, about text not null) strict;
create table messages (email text not null, text text not null) strict;
create table requests (id integer primary key, order_id text not null, line integer not null, sku text not null, amount integer not null, state text not null) strict;
`

const columns = {
  customers: ['email', 'name', 'tier', 'credit'],
  products: ['sku', 'name', 'variant', 'price', 'stock', 'final_sale'],
  orders: ['id', 'email', 'status', 'placed', 'ships', 'delivered', 'address', 'voucher'],
  lines: ['order_id', 'line', 'sku', 'paid', 'status'],
  payments: ['order_id', 'kind', 'method', 'amount'],
  vouchers: ['code', 'percent', 'least', 'expires', 'used'],
} as const satisfies Record<keyof Rows, readonly string[]>

/** The shop's database: in memory, one for each attempt, statements prepared once each. */
export class Shop {
  readonly #database = new DatabaseSync(':memory:')
  readonly #statements = new Map<string, StatementSync>()

  constructor(rows: Rows) {
    this.#database.exec(schema)
    this.#database.exec('begin')
    for (const table of Object.keys(columns) as (keyof Rows)[]) {
      const names = columns[table]
      const insert = this.#database.prepare(
        `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
      )
      for (const row of rows[table]) {
        const fields = row as unknown as Record<string, Value>
        insert.run(...names.map((name) => fields[name]!))
      }
    }
    this.#database.exec('commit')
  }

  /** All rows of a query. Values are bound, never written into it. */
  all<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#statement(sql).all(...values) as Row[]
  }

  /** The first row of a query. */
  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined
  }

  run(sql: string, ...values: Value[]): void {
    this.#statement(sql).run(...values)
  }

  /** Makes several changes or none of them. */
  together<T>(change: () => T): T {
    this.#database.exec('begin')
    try {
      const result = change()
      this.#database.exec('commit')
      return result
    } catch (thrown) {
      this.#database.exec('rollback')
      throw thrown
    }
  }

  /** All tables that a grader compares. */
  tables(): Tables {
    const by = <Row extends object>(
      table: string,
      key: (row: Row) => string,
      without: readonly (keyof Row)[],
    ) =>
      Object.fromEntries(
        this.all<Row>(`select * from ${table}`).map((row) => {
          const rest: Partial<Row> = { ...row }
          for (const name of without) delete rest[name]
          return [key(row), rest]
        }),
      )
    const list = <Row extends object>(table: string) =>
      this.all<Row>(`select * from ${table}`).map((row) => ({ ...row }))
    return {
      customers: by('customers', (row: { email: string }) => row.email, ['email']) as Tables['customers'],
      products: by('products', (row: { sku: string }) => row.sku, ['sku']) as Tables['products'],
      orders: by('orders', (row: { id: string }) => row.id, ['id']) as Tables['orders'],
      lines: by('lines', (row: { order_id: string; line: number }) => `${row.order_id}/${row.line}`, [
        'order_id',
        'line',
      ]) as Tables['lines'],
      payments: list('payments'),
      vouchers: by('vouchers', (row: { code: string }) => row.code, ['code']) as Tables['vouchers'],
      tickets: list('tickets'),
      mails: list('mails'),
    }
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
