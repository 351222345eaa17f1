-- The group roles of an installation. Nobody logs in as one of them: logins become members (docs/operating.md).
-- Roles belong to the whole server, so another database may have made them already, or be making them at this moment.
-- Without the right to make them the upgrade goes on; `doclease db roles` prints this for somebody who has it.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['<ingest>', '<work>', '<read>', '<review>'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                RAISE NOTICE 'role % is not there, and % may not create it', wanted, current_user;
        END;
    END LOOP;
END $$;
