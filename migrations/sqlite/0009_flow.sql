-- Messages with the same ordering key: what a destination with `ordered = true` keeps in order, and what brokers
-- partition by. The gateway adds the event's own key when a handler has ended.

ALTER TABLE outbox ADD COLUMN ordering_key TEXT;
