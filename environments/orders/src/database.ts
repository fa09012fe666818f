import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { baseRows } from './base-rows.ts'
import type { Rows, Tables } from './rows.ts'

type Value = string | number | null

// Small pages: each table takes one at least, and thousands of shops may be open at once.
const schema = `
pragma page_size = 1024;
create table customers (email text primary key, name text not null, tier text not null, credit integer not null check (credit >= 0)) strict, without rowid;
create table products (sku text primary key, name text not null, variant text not null, price integer not null, stock integer not null check (stock >= 0), final_sale integer not null) strict, without rowid;
create table orders (id text primary key, email text not null, status text not null, placed text not null, ships text not null, delivered text, address text not null, voucher text) strict, without rowid;
create table lines (order_id text not null, line integer not null, sku text not null, paid integer not null check (paid >= 0), status text not null, primary key (order_id, line)) strict, without rowid;
create table payments (order_id text not null, kind text not null, method text not null, amount integer not null check (amount > 0)) strict;
create table vouchers (code text primary key, percent integer not null, least integer not null, expires text not null, used integer not null) strict, without rowid;
create table tickets (number text not null, topic text not null, order_id text, line integer, paid integer, note text not null) strict;
create table mails (email text not null, order_id text not null, about text not null) strict;
create table messages (email text not null, text text not null) strict;
create table requests (id integer primary key, order_id text not null, line integer not null, sku text not null, amount integer not null, state text not null) strict;
`

const insertCustomer = 'insert into customers (email, name, tier, credit) values (?, ?, ?, ?)'
const insertProduct =
  'insert into products (sku, name, variant, price, stock, final_sale) values (?, ?, ?, ?, ?, ?)'
const insertOrder =
  'insert into orders (id, email, status, placed, ships, delivered, address, voucher) values (?, ?, ?, ?, ?, ?, ?, ?)'
const insertLine = 'insert into lines (order_id, line, sku, paid, status) values (?, ?, ?, ?, ?)'
const insertPayment = 'insert into payments (order_id, kind, method, amount) values (?, ?, ?, ?)'
const insertVoucher = 'insert into vouchers (code, percent, least, expires, used) values (?, ?, ?, ?, ?)'

const object = (table: string, key: string, ...names: string[]) =>
  `json((select json_group_object(${key}, json_object(${names.map((name) => `'${name}', ${name}`).join(', ')})) from ${table}))`
const list = (table: string, ...names: string[]) =>
  `json((select json_group_array(json_object(${names.map((name) => `'${name}', ${name}`).join(', ')})) from ${table}))`

/** All tables as one JSON text: a call for each row would take longer than to read them. */
const selectTables = `select json_object(
  'customers', ${object('customers', 'email', 'name', 'tier', 'credit')},
  'stock', json((select json_group_object(sku, stock) from products)),
  'orders', ${object('orders', 'id', 'email', 'status', 'placed', 'ships', 'delivered', 'address', 'voucher')},
  'lines', ${object('lines', "order_id || '/' || line", 'sku', 'paid', 'status')},
  'payments', ${list('payments', 'order_id', 'kind', 'method', 'amount')},
  'vouchers', ${object('vouchers', 'code', 'percent', 'least', 'expires', 'used')},
  'tickets', ${list('tickets', 'number', 'topic', 'order_id', 'line', 'paid', 'note')},
  'mails', ${list('mails', 'email', 'order_id', 'about')},
  'requests', ${list('requests', 'order_id', 'line', 'sku', 'amount', 'state')}
) as tables`

/** Connections that wait for their next attempt. Beyond so many they are closed. */
const idle: DatabaseConnection[] = []
const mostIdle = 256

/** A connection to a database of its own in memory, which holds what all attempts begin with, and its statements. */
interface DatabaseConnection {
  database: DatabaseSync
  statements: Map<string, StatementSync>
}

/**
 * The shop's database: in memory, and of one attempt alone. An attempt runs inside a transaction that is never
 * committed. When it is over the transaction is rolled back, and the next attempt finds the database as if it were
 * new; making the tables again would cost more than a whole conversation. A database that cannot be rolled back is
 * closed and never used again.
 *
 * It is opened when it is first asked: a connection takes a hundred kilobytes, and of the attempts that are open most
 * may wait for their first call.
 */
export class Shop {
  readonly #rows: Rows
  #opened: DatabaseConnection | undefined
  #over = false

  constructor(rows: Rows) {
    this.#rows = rows
  }

  get #connection(): DatabaseConnection {
    if (this.#opened !== undefined) return this.#opened
    if (this.#over) throw new Error('the shop is closed')
    const connection = idle.pop() ?? connect()
    this.#opened = connection
    connection.database.exec('begin')
    insert(connection, this.#rows)
    return connection
  }

  /** All rows of a query. Values are bound, never written into it. */
  all<Row>(sql: string, ...values: Value[]): Row[] {
    return statementOf(this.#connection, sql).all(...values) as Row[]
  }

  /** The first row of a query. */
  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return statementOf(this.#connection, sql).get(...values) as Row | undefined
  }

  run(sql: string, ...values: Value[]): void {
    statementOf(this.#connection, sql).run(...values)
  }

  /** Makes several changes or none of them. */
  together<T>(change: () => T): T {
    this.run('savepoint together')
    try {
      const result = change()
      this.run('release together')
      return result
    } catch (thrown) {
      this.run('rollback to together')
      this.run('release together')
      throw thrown
    }
  }

  /** All that a tool can change, and all that says whose it is. */
  tables(): Tables {
    return JSON.parse(this.get<{ tables: string }>(selectTables)!.tables)
  }

  /** Gives the database back. It can be called again, to no effect. */
  close(): void {
    this.#over = true
    const connection = this.#opened
    if (connection === undefined) return
    this.#opened = undefined
    const { database } = connection
    try {
      database.exec('rollback')
      if (idle.length < mostIdle) {
        idle.push(connection)
        return
      }
    } catch {
      // Closed below.
    }
    database.close()
  }
}

function connect(): DatabaseConnection {
  const database = new DatabaseSync(':memory:')
  database.exec(schema)
  const connection = { database, statements: new Map<string, StatementSync>() }
  insert(connection, baseRows)
  return connection
}

function statementOf({ database, statements }: DatabaseConnection, sql: string): StatementSync {
  let statement = statements.get(sql)
  if (statement === undefined) {
    statement = database.prepare(sql)
    statements.set(sql, statement)
  }
  return statement
}

function insert(connection: DatabaseConnection, rows: Rows): void {
  const run = (sql: string, ...values: Value[]) => statementOf(connection, sql).run(...values)
  for (const { email, name, tier, credit } of rows.customers) run(insertCustomer, email, name, tier, credit)
  for (const { sku, name, variant, price, stock, final_sale } of rows.products)
    run(insertProduct, sku, name, variant, price, stock, final_sale)
  for (const { id, email, status, placed, ships, delivered, address, voucher } of rows.orders)
    run(insertOrder, id, email, status, placed, ships, delivered, address, voucher)
  for (const { order_id, line, sku, paid, status } of rows.lines)
    run(insertLine, order_id, line, sku, paid, status)
  for (const { order_id, kind, method, amount } of rows.payments)
    run(insertPayment, order_id, kind, method, amount)
  for (const { code, percent, least, expires, used } of rows.vouchers)
    run(insertVoucher, code, percent, least, expires, used)
  for (const { sku, stock } of rows.left) run('update products set stock = ? where sku = ?', stock, sku)
}
