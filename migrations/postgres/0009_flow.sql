-- Messages with the same ordering key: what a destination with `ordered = true` keeps in order, and what brokers
-- partition by. The event's own key is the default while the gateway runs a handler.

ALTER TABLE outbox ADD COLUMN ordering_key text COLLATE "C"
    DEFAULT nullif(current_setting('hookgate.ordering_key', true), '');
