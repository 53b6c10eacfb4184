CREATE TABLE IF NOT EXISTS shop.items (
  id BIGINT PRIMARY KEY,
  name VARCHAR(20) NOT NULL,
  CONSTRAINT u UNIQUE (name)
);

CREATE OR REPLACE FUNCTION total(p INT) RETURNS INT AS $$
BEGIN
  RETURN add_tax(p);
END;
$$ LANGUAGE plpgsql;

create view cheap as select id, upper(name) from items where price < 10;
CREATE INDEX idx_name ON items (name);
CREATE PROCEDURE refill(n INT)
BEGIN
  IF n > 0 THEN
    CALL log_it(n);
  END IF;
END;
SELECT total(1);
