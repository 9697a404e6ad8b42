INSERT INTO audit_log (who, action, filter, affected)
VALUES ($1, $2, $3, $4)
RETURNING id
