-- The tables of the built-in Stripe handlers.

CREATE TABLE invoices (
    id          text PRIMARY KEY,
    customer_id text NOT NULL,
    status      text NOT NULL CHECK (status IN ('draft', 'open', 'paid', 'void', 'uncollectible')),
    amount_paid bigint NOT NULL DEFAULT 0,
    paid_at     timestamptz,
    updated_at  timestamptz NOT NULL DEFAULT now()
);

-- Amounts are in the currency's smallest unit.
CREATE TABLE ledger_entries (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    invoice_id text NOT NULL,
    kind       text NOT NULL CHECK (kind <> ''),
    amount     bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (invoice_id, kind)
);

CREATE TABLE entitlements (
    session_id     text PRIMARY KEY,
    customer_id    text,
    tier           text,
    payment_status text NOT NULL,
    -- Renewals: one grant for each invoice.
    invoice_id     text UNIQUE,
    event_id       text NOT NULL,
    granted_at     timestamptz NOT NULL DEFAULT now()
);
