SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '5min';
