export function checked(input: unknown): { id: number } {
  const id = Number((input as { id?: unknown })?.id);
  if (!Number.isInteger(id)) throw new Error("a sailing has a number");
  return { id };
}
