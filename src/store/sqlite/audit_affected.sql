UPDATE audit_log SET affected = affected + $2 WHERE id = $1
