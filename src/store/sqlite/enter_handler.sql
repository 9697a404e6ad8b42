-- Answers the newest message of others, so that those of this unit of work can be told from them.
SELECT coalesce((SELECT max(id) FROM outbox), 0) AS newest
