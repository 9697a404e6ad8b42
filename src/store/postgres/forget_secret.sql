DELETE FROM learned_secrets WHERE endpoint = $1
