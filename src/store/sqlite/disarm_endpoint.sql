DELETE FROM armed_endpoints WHERE endpoint = $1
