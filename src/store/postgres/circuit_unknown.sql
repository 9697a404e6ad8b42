-- The probe of the destination $1 said nothing about it: the next message is one.
UPDATE circuits SET probe_until = NULL WHERE destination = $1 AND probe_until IS NOT NULL
