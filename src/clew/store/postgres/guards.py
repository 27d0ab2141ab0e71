"""Triggers and rules of the schema that keep writers from changing the records of others, whatever client they use.

- An event is that of its record: the record has its version and its value. Its number is the one that the database gave
  last, and its time that of its transaction: who could choose a number would hide from copies what comes after it.
- A record changes only to the next version, together with the event of it. This is looked at when a transaction ends,
  because the event follows the record.
- Besides, values can only be blanked, as a purge does: to nothing, or to what `_is_blank_of` lists. Record and event
  are blanked together.
- A deletion keeps the value that the record had, until it is restored or purged.

An owner may do more where it says so (`clew.moving`, `clew.purging`): a migration brings what others wrote, and owners
can change the tables anyway. A setting alone allows nothing: every rule asks who the session's user is.

Functions name the schema in full: a session may have tables of the same names on its path.
"""

_AT = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


def _in_schema(statement: str) -> str:
    """A statement with `%1$I` where the name of the schema stands, and `%2$s` where the number that its writers lock
    (`lock_of`): they are known only where the step is taken."""
    return f"""
        DO $step$
        DECLARE name text := current_schema();
        BEGIN
            EXECUTE format(
                $statement${statement}$statement$, name,
                ('x' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 16))::bit(64)::bigint
            );
        END $step$
    """


_OF_COLLECTION = "collection || ''"
"""Not the column itself: while a table is empty, the index by collection looks as good as that by id, and a plan that a
session made then goes over the whole collection later."""
_IS_OWNER = """
    pg_has_role(session_user, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'MEMBER')
"""
_MAY_MOVE = f"current_setting('clew.moving', true) = 'on' AND {_IS_OWNER}"
_MAY_REWRITE = f"current_setting('clew.purging', true) = 'on' AND {_IS_OWNER}"

_RENUMBER = """
    DO $step$
    DECLARE numbered record; last bigint;
    BEGIN
        FOR numbered IN
            SELECT * FROM (VALUES ('events', 'seq'), ('tombstones', 'number'), ('jobs', 'number'), ('purged', 'number'))
                AS each (name, number)
        LOOP
            EXECUTE format(
                'SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM %s',
                pg_get_serial_sequence(quote_ident(current_schema()) || '.' || numbered.name, numbered.number)
            ) INTO last;
            EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', numbered.name);
            EXECUTE format('UPDATE %I SET %I = DEFAULT WHERE %I > $1', numbered.name, numbered.number, numbered.number)
                USING last;
            EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', numbered.name);
        END LOOP;
    END $step$
"""
"""Numbers that a writer chose may lie beyond all that follow."""

_TURNS = (
    # Only a writer may lock it; a number that everybody can lock would let anybody stop all writers.
    "CREATE TABLE turn ()",
    # Servers of the version before lock the number alone. Whoever else holds it is not waited for.
    _in_schema("""
        CREATE FUNCTION %1$I.await_older_writers() RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            key bigint := %2$s;
            may_write boolean;
            usual text := current_setting('lock_timeout');
            most int := (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'lock_timeout');
            began timestamptz := clock_timestamp();
        BEGIN
            LOOP
                PERFORM pg_stat_clear_snapshot();
                IF pg_try_advisory_xact_lock(key) THEN
                    RETURN;
                END IF;
                SELECT bool_or(has_table_privilege(holder.usesysid, '%1$I.entries', 'INSERT')) INTO may_write
                    FROM pg_catalog.pg_locks JOIN pg_catalog.pg_stat_activity AS holder USING (pid)
                    WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND holder.datname = current_database()
                        AND classid::bigint = (key >> 32) & 4294967295 AND objid::bigint = key & 4294967295;
                -- Unknown where it was let go of meanwhile.
                EXIT WHEN NOT may_write;
                CONTINUE WHEN may_write IS NULL;
                BEGIN
                    PERFORM set_config('lock_timeout', least(nullif(most, 0), 200)::text, true);
                    PERFORM pg_advisory_xact_lock(key);
                    PERFORM set_config('lock_timeout', usual, true);
                    RETURN;
                EXCEPTION WHEN lock_not_available THEN
                    IF most > 0 AND clock_timestamp() > began + most * interval '1 ms' THEN RAISE; END IF;
                END;
            END LOOP;
        END $$
    """),
    _in_schema("""
        CREATE FUNCTION %1$I.lock_writers() RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            LOCK TABLE %1$I.turn IN SHARE UPDATE EXCLUSIVE MODE;
            IF NOT pg_try_advisory_xact_lock(%2$s) THEN
                PERFORM %1$I.await_older_writers();
            END IF;
        END $$
    """),
    # Also for a client that did not ask for its turn: before the number of its event is taken, so that numbers rise in
    # the order of commits. A server of the version before has the number, and whoever has the table waits for it: it
    # must not wait for the table.
    _in_schema("""
        CREATE FUNCTION %1$I.take_turn() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NOT pg_try_advisory_xact_lock(%2$s) THEN
                LOCK TABLE %1$I.turn IN SHARE UPDATE EXCLUSIVE MODE;
            END IF;
            RETURN NULL;
        END $$
    """),
    """
    CREATE TRIGGER events_are_written_in_turn BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION take_turn()
    """,
)

_BLANKS = (
    # `\u0000` cannot be in a jsonb; what takes its place is in none either, for it is not a member's name.
    r"""
    CREATE FUNCTION is_blank_of(collection text, old text, new text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE
        blank jsonb := CASE collection
            WHEN 'change' THEN '{"rationale": "purged", "details": {}}'
            WHEN 'exchange' THEN '{"query": "", "reason": ""}'
        END;
        whole jsonb;
    BEGIN
        IF new IS NULL OR new IS NOT DISTINCT FROM old THEN
            RETURN true;
        END IF;
        IF old IS NULL OR blank IS NULL THEN
            RETURN false;
        END IF;
        whole := replace(old, '\u0000', '\u001a')::jsonb;
        RETURN jsonb_typeof(whole) = 'object' AND replace(new, '\u0000', '\u001a')::jsonb = whole || blank;
    END $$
    """,
    _in_schema(f"""
        CREATE OR REPLACE FUNCTION %1$I.refuse_change_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE' AND current_setting('clew.purging', true) = 'on'
                AND (NEW.seq, NEW.at, NEW.actor, NEW.operation, NEW.collection, NEW.id, NEW.version)
                    = (OLD.seq, OLD.at, OLD.actor, OLD.operation, OLD.collection, OLD.id, OLD.version)
            THEN
                IF NEW.reason IN (OLD.reason, '') AND %1$I.is_blank_of(OLD.collection, OLD.before, NEW.before)
                    AND %1$I.is_blank_of(OLD.collection, OLD.after, NEW.after)
                THEN
                    RETURN NEW;
                END IF;
                IF {_IS_OWNER} THEN
                    RETURN NEW;
                END IF;
            END IF;
            RAISE EXCEPTION 'events are append-only';
        END $$
    """),
    _in_schema(f"""
        CREATE FUNCTION %1$I.check_blanked_event() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (
                SELECT FROM %1$I.entries WHERE collection = NEW.collection AND id = NEW.id AND version = NEW.version
                    AND data IS DISTINCT FROM NEW.after
            ) AND EXISTS (SELECT FROM %1$I.events WHERE seq = NEW.seq AND after IS NOT DISTINCT FROM NEW.after)
                AND NOT coalesce({_MAY_MOVE}, false)
            THEN
                RAISE EXCEPTION 'an event and its record are blanked together';
            END IF;
            RETURN NULL;
        END $$
    """),  # noqa: S608 (Clew's own)
    """
    CREATE CONSTRAINT TRIGGER events_are_blanked_with_their_records AFTER UPDATE ON events
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_blanked_event()
    """,
    # Only a purge itself says what was purged.
    """
    CREATE OR REPLACE FUNCTION note_purge() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        EXECUTE format('INSERT INTO %I.purged (collection, id) VALUES ($1, $2)', TG_TABLE_SCHEMA)
            USING NEW.collection, NEW.id;
        RETURN NULL;
    END $$
    """,
)

_EVENTS = (
    _in_schema(f"""
        CREATE FUNCTION %1$I.check_event() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            version_there bigint; data_there text; at_there text; last bigint; whole json;
        BEGIN
            -- By itself, because who asks for more costs every write a query.
            IF current_setting('clew.moving', true) = 'on' THEN
                IF {_IS_OWNER} THEN
                    RETURN NEW;
                END IF;
            END IF;
            SELECT version, data, updated_at, (SELECT last_value FROM %1$I.events_seq_seq)
                INTO version_there, data_there, at_there, last
                FROM %1$I.entries WHERE collection = NEW.collection AND id = NEW.id;
            IF version_there IS DISTINCT FROM NEW.version OR data_there IS DISTINCT FROM NEW.after
                OR at_there <> NEW.at OR (NEW.operation = 'delete') <> (NEW.after IS NULL)
            THEN
                RAISE EXCEPTION 'an event follows the record that it is about';
            END IF;
            -- Nobody else gets a number before this transaction ends: the writers take turns.
            IF NEW.seq IS DISTINCT FROM last THEN
                RAISE EXCEPTION 'the database numbers the events';
            END IF;
            -- By the database's clock, and within this transaction.
            IF NEW.at < {_AT.format("now()")} OR NEW.at > {_AT.format("clock_timestamp()")} THEN
                RAISE EXCEPTION 'the time of an event is that of its transaction, by the clock of the database'
                    USING ERRCODE = 'serialization_failure';
            END IF;
            -- Fails where it is none.
            whole := NEW.after;
            RETURN NEW;
        END $$
    """),  # noqa: S608 (Clew's own)
    """
    CREATE TRIGGER events_are_of_their_records BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION check_event()
    """,
    _in_schema(f"""
        CREATE FUNCTION %1$I.check_entry() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE event record;
        BEGIN
            SELECT before, after INTO event FROM %1$I.events
                WHERE id = NEW.id AND {_OF_COLLECTION} = NEW.collection AND version = NEW.version;
            IF FOUND AND event.after IS NOT DISTINCT FROM NEW.data THEN
                IF TG_OP = 'INSERT' THEN
                    IF NEW.version = 1 AND event.before IS NULL THEN
                        RETURN NULL;
                    END IF;
                ELSIF (NEW.collection, NEW.id) = (OLD.collection, OLD.id) THEN
                    IF NEW.version = OLD.version + 1 AND (event.before IS NULL OR event.before = OLD.data) THEN
                        RETURN NULL;
                    END IF;
                    IF (NEW.version, NEW.updated_at) = (OLD.version, OLD.updated_at)
                        AND %1$I.is_blank_of(NEW.collection, OLD.data, NEW.data)
                    THEN
                        RETURN NULL;
                    END IF;
                END IF;
            END IF;
            IF {_MAY_MOVE} OR {_MAY_REWRITE} THEN
                RETURN NULL;
            END IF;
            RAISE EXCEPTION 'a record changes only together with the event of its next version';
        END $$
    """),  # noqa: S608 (Clew's own)
    """
    CREATE CONSTRAINT TRIGGER entries_change_with_events AFTER INSERT OR UPDATE ON entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_entry()
    """,
)

_TOMBSTONES = (
    _in_schema(f"""
        CREATE FUNCTION %1$I.check_tombstone() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF (NEW.number, NEW.collection, NEW.id, NEW.version, NEW.deleted_at, NEW.actor)
                    = (OLD.number, OLD.collection, OLD.id, OLD.version, OLD.deleted_at, OLD.actor)
                    AND NEW.reason IN (OLD.reason, '') AND %1$I.is_blank_of(NEW.collection, OLD.data, NEW.data)
                THEN
                    RETURN NEW;
                END IF;
            ELSIF EXISTS (
                SELECT FROM %1$I.entries WHERE collection = NEW.collection AND id = NEW.id
                    AND version = NEW.version AND data IS NULL AND updated_at = NEW.deleted_at
            ) AND NOT EXISTS (
                SELECT FROM %1$I.events WHERE id = NEW.id AND {_OF_COLLECTION} = NEW.collection
                    AND version = NEW.version - 1 AND after IS DISTINCT FROM NEW.data
            ) THEN
                RETURN NEW;
            END IF;
            IF {_MAY_MOVE} OR {_MAY_REWRITE} THEN
                RETURN NEW;
            END IF;
            RAISE EXCEPTION 'a deletion keeps the value that was deleted';
        END $$
    """),  # noqa: S608 (Clew's own)
    """
    CREATE TRIGGER tombstones_hold_what_was_deleted BEFORE INSERT OR UPDATE ON tombstones
    FOR EACH ROW EXECUTE FUNCTION check_tombstone()
    """,
    _in_schema(f"""
        CREATE FUNCTION %1$I.check_gone_tombstone() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (
                SELECT FROM %1$I.entries WHERE collection = OLD.collection AND id = OLD.id AND data IS NULL
            ) AND NOT EXISTS (
                SELECT FROM %1$I.tombstones WHERE collection = OLD.collection AND id = OLD.id
            ) AND EXISTS (
                SELECT FROM %1$I.events WHERE id = OLD.id AND {_OF_COLLECTION} = OLD.collection
                    AND version = OLD.version AND before IS NOT NULL
            ) AND NOT coalesce({_MAY_MOVE}, false) THEN
                RAISE EXCEPTION 'a deletion goes when its record is restored or purged';
            END IF;
            RETURN NULL;
        END $$
    """),  # noqa: S608 (Clew's own)
    """
    CREATE CONSTRAINT TRIGGER tombstones_go_with_what_was_deleted AFTER DELETE ON tombstones
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_gone_tombstone()
    """,
)

STATEMENTS = (
    # In the order in which writers lock them.
    "LOCK TABLE entries, tombstones, events, jobs, purged IN ACCESS EXCLUSIVE MODE",
    _RENUMBER,
    *_TURNS,
    *_BLANKS,
    *_EVENTS,
    *_TOMBSTONES,
)
