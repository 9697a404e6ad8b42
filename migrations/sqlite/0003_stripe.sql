-- The tables of the built-in Stripe handlers.

CREATE TABLE invoices (
    id          TEXT PRIMARY KEY NOT NULL,
    customer_id TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('draft', 'open', 'paid', 'void', 'uncollectible')),
    amount_paid INTEGER NOT NULL DEFAULT 0,
    paid_at     TEXT,
    updated_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- Amounts are in the currency's smallest unit.
CREATE TABLE ledger_entries (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    invoice_id TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind <> ''),
    amount     INTEGER NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (invoice_id, kind)
) STRICT;

CREATE TABLE entitlements (
    session_id     TEXT PRIMARY KEY NOT NULL,
    customer_id    TEXT,
    tier           TEXT,
    payment_status TEXT NOT NULL,
    -- Renewals: one grant for each invoice.
    invoice_id     TEXT UNIQUE,
    event_id       TEXT NOT NULL,
    granted_at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
