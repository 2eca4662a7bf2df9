/** A table that is sorted by clicking a heading; the address holds the order. */
import type { ComponentChildren, VNode } from "preact";
import { choose, useAddress } from "../address";

export interface Column<Row> {
  key: string;
  label: string;
  /** What the rows are sorted by. */
  value: (row: Row) => string | number | boolean | null | undefined;
  /** What is shown, if it is not the value. */
  show?: (row: Row) => ComponentChildren;
  number?: boolean;
}

interface Order {
  key: string;
  down: boolean;
}

/** The order of the table with this name, as the address has it: `name.sort=key` or `-key`. */
export function useOrder(name: string, standard?: string): [Order | null, (order: Order) => void] {
  const text = useAddress().query.get(`${name}.sort`) ?? standard;
  const order = text ? { key: text.replace(/^-/, ""), down: text.startsWith("-") } : null;
  return [order, ({ key, down }) => choose({ [`${name}.sort`]: `${down ? "-" : ""}${key}` }, { replace: true })];
}

/** The rows in this order; what has no value comes last, whichever way. */
export function sorted<Row>(rows: Row[], columns: Column<Row>[], order: Order | null): Row[] {
  const column = columns.find(({ key }) => key === order?.key);
  if (!column || !order) return rows;
  const sign = order.down ? -1 : 1;
  return [...rows].sort((left, right) => {
    const [a, b] = [column.value(left), column.value(right)];
    if (a == null || b == null) return Number(a == null) - Number(b == null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  });
}

export function Table<Row>(props: {
  name: string;
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  rowClass?: (row: Row) => string | undefined;
  /** The order until somebody chooses another: `key` or `-key`. */
  standard?: string;
  limit?: number;
  hideCaption?: boolean;
  onRow?: (row: Row | null) => void;
}): VNode {
  const [order, setOrder] = useOrder(props.name, props.standard);
  const rows = sorted(props.rows, props.columns, order).slice(0, props.limit);
  return (
    <div class="table" role="region" aria-label={props.caption} tabIndex={0}>
      <table>
        <caption class={props.hideCaption ? "unseen" : undefined}>{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map((column) => {
              const mine = order?.key === column.key;
              return (
                <th
                  key={column.key}
                  scope="col"
                  class={column.number ? "number" : undefined}
                  aria-sort={mine ? (order.down ? "descending" : "ascending") : "none"}
                >
                  <button
                    type="button"
                    onClick={() =>
                      setOrder({ key: column.key, down: mine ? !order.down : column.number ?? false })
                    }
                  >
                    {column.label}
                    {mine && <span aria-hidden="true"> {order.down ? "↓" : "↑"}</span>}
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={props.rowKey(row)}
              class={props.rowClass?.(row)}
              onMouseEnter={props.onRow && (() => props.onRow?.(row))}
              onMouseLeave={props.onRow && (() => props.onRow?.(null))}
            >
              {props.columns.map((column, index) => {
                const cell = column.show ? column.show(row) : column.value(row);
                const kind = column.number ? "number" : undefined;
                return index === 0 ? (
                  <th key={column.key} scope="row" class={kind}>
                    {cell}
                  </th>
                ) : (
                  <td key={column.key} class={kind}>
                    {cell}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
