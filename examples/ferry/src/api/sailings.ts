import { checked } from "./schema";

export function cancel(input: unknown): string {
  const { id } = checked(input);
  return `UPDATE sailings SET cancelled = 1 WHERE id = ${id}`;
}
