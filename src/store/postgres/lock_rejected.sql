-- Who writes rejected requests of one endpoint counts first: one at a time, to the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended('hookgate quarantine ' || $1, 0))
