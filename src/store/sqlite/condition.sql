SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS now, synchronous >= 2 AS durable FROM pragma_synchronous
