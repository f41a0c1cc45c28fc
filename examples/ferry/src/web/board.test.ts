import { row } from "./board";

console.assert(row("SEHEL", "08:15") === "SEHEL  08:15");
