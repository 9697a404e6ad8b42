SELECT coalesce(max(version), 0) AS version FROM hookgate_migrations WHERE success
