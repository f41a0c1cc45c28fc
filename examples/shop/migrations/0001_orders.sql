CREATE TABLE orders (id TEXT PRIMARY KEY, total_cents INTEGER NOT NULL);
-- back: DROP TABLE orders;
