SELECT kind, name, paused_at, who, reason FROM pauses ORDER BY kind, name
