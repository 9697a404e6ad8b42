-- Engines that only speak the protocol may not have these settings; then nothing speaks against them.
SELECT clock_timestamp() AS now,
       coalesce(current_setting('fsync', true), 'on') <> 'off'
       AND coalesce(current_setting('full_page_writes', true), 'on') <> 'off'
       AND coalesce(current_setting('synchronous_commit', true), 'on') <> 'off' AS durable
