package backup

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/secrets"
	"stoa/graph/platform/db"
)

// firstMigration returns when the database got its first table.
func (s Store) firstMigration(ctx context.Context) (time.Time, error) {
	var at time.Time
	return at, s.query(ctx, "SELECT min(tstamp) AT TIME ZONE current_setting('TimeZone') FROM goose_db_version", &at)
}

// isEmpty reports whether the database holds no agent. It returns ErrNoTables if it is not one of Stoa.
func (s Store) isEmpty(ctx context.Context) (bool, error) {
	var empty bool
	err := s.query(ctx, "SELECT NOT EXISTS (SELECT FROM bots)", &empty)
	if refused, ok := errors.AsType[*pq.Error](err); ok && refused.Code == undefinedTable {
		return false, ErrNoTables
	}
	return empty, err
}

// undefinedTable is PostgreSQL's error code for a table that does not exist.
const undefinedTable = "42P01"

func (s Store) keyFingerprint(ctx context.Context) (found string, err error) {
	err = s.withPool(func(pool *sql.DB) error {
		found, err = secrets.Recorded(ctx, pool)
		return err
	})
	return found, err
}

// forgetKey makes the restored database belong to no key: the next server that starts decides.
func (s Store) forgetKey(ctx context.Context) error {
	return s.withPool(func(pool *sql.DB) error { return secrets.ForgetKey(ctx, pool) })
}

// query reads one value.
func (s Store) query(ctx context.Context, query string, into any) error {
	return s.withPool(func(pool *sql.DB) error { return pool.QueryRowContext(ctx, query).Scan(into) })
}

// execute runs statements that take no parameters.
func (s Store) execute(ctx context.Context, statements string) error {
	return s.withPool(func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, statements)
		return err
	})
}

func (s Store) withPool(act func(*sql.DB) error) error {
	pool, err := db.OpenPlain(s.Database)
	if err != nil {
		return err
	}
	return errors.Join(act(pool), pool.Close())
}

// dump writes the database into a file, without the rows of unlogged tables.
func (s Store) dump(ctx context.Context, path string) error {
	return s.run(ctx, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--no-unlogged-table-data", "--file="+path)
}

// load fills an empty database from a file in one transaction.
func (s Store) load(ctx context.Context, path string) error {
	config, err := pq.NewConfig(s.Database)
	if err != nil {
		return err
	}
	return s.run(ctx, "pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error",
		"--dbname="+config.Database, path)
}

// run runs a PostgreSQL client program. It gets the connection in its environment, since anybody can read a process's arguments.
func (s Store) run(ctx context.Context, program string, args ...string) error {
	var major int
	if err := s.query(ctx, "SELECT current_setting('server_version_num')::int / 10000", &major); err != nil {
		return err
	}
	path, err := cluster.Client(ctx, program, major)
	if err != nil {
		return err
	}
	address, err := db.ConnectionURL(s.Database)
	if err != nil {
		return err
	}
	config, err := pq.NewConfig(address)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(environment(config), "LANG=C", "TZ=UTC", "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
	var out cluster.Output
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return out.Explain(program, err)
	}
	return nil
}

// environment returns the variables of libpq that mean the same as the connection URL.
func environment(c pq.Config) []string {
	var hosts, addresses, ports []string
	for _, one := range append([]pq.ConfigMultihost{{Host: c.Host, Hostaddr: c.Hostaddr, Port: c.Port}}, c.Multi...) {
		hosts, ports = append(hosts, one.Host), append(ports, strconv.Itoa(int(one.Port)))
		if one.Hostaddr.IsValid() {
			addresses = append(addresses, one.Hostaddr.String())
		}
	}
	env := []string{
		"PGHOST=" + strings.Join(hosts, ","), "PGHOSTADDR=" + strings.Join(addresses, ","), "PGPORT=" + strings.Join(ports, ","),
		"PGTARGETSESSIONATTRS=" + string(c.TargetSessionAttrs), "PGDATABASE=" + c.Database, "PGUSER=" + c.User,
		"PGPASSWORD=" + c.Password, "PGPASSFILE=" + c.Passfile, "PGOPTIONS=" + c.Options, "PGSSLMODE=" + string(c.SSLMode),
		"PGSSLCERT=" + c.SSLCert, "PGSSLKEY=" + c.SSLKey, "PGSSLROOTCERT=" + c.SSLRootCert,
	}
	if c.ConnectTimeout > 0 {
		env = append(env, "PGCONNECT_TIMEOUT="+strconv.Itoa(int(c.ConnectTimeout.Seconds())))
	}
	return slices.DeleteFunc(env, func(one string) bool { return strings.HasSuffix(one, "=") })
}
