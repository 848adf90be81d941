package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/stoa/cluster"
	"stoa/graph/platform/db"
)

// The parts of a backup. checksumsFile lists every file in the format of sha256sum; the manifest holds the checksum of this list.
const (
	manifestFile  = "manifest.json"
	checksumsFile = "SHA256SUMS"
	databaseFile  = "database.dump"
	keyFile       = "secret.key"
	filesFolder   = "files" // in the list, and in backups of versions without a pool
)

// Manifest describes a backup.
type Manifest struct {
	// Name of the backup's folder.
	Name string `json:"name"`
	// MadeAt is the time at which the backup began; the database is copied as it was then.
	MadeAt time.Time `json:"made_at"`
	// Version of the program that made it.
	Version string `json:"version"`
	// DatabaseBytes and DatabaseSHA256 (lower-case hexadecimal) are of the database's file.
	DatabaseBytes  int64  `json:"database_bytes"`
	DatabaseSHA256 string `json:"database_sha256"`
	// Files and FilesBytes count the files of the file store.
	Files      int64 `json:"files"`
	FilesBytes int64 `json:"files_bytes"`
	// Pool is true if the files are in the pool. Backups of earlier versions have them in their own folder.
	Pool bool `json:"pool,omitempty"`
	// ChecksumsSHA256 is the checksum of the list of checksums; empty before version 0.1.0.
	ChecksumsSHA256 string `json:"checksums_sha256,omitempty"`
	// Repaired counts damaged files of the pool that were copied again.
	Repaired int64 `json:"repaired,omitempty"`
	// Empty is true if the database holds no agent.
	Empty bool `json:"empty,omitempty"`
	// KeyFingerprint identifies the key of the database's installation; empty in backups of earlier versions. HasKey is true if
	// the backup holds this key.
	KeyFingerprint string `json:"key_fingerprint,omitempty"`
	HasKey         bool   `json:"has_key,omitempty"`
	// Damage explains why the manifest cannot be read; then only Name is known, and MadeAt is roughly the time of the folder.
	Damage string `json:"-"`
}

// SizeBytes returns the size of the whole backup.
func (m Manifest) SizeBytes() int64 { return m.DatabaseBytes + m.FilesBytes }

func readManifest(folder string) (Manifest, error) {
	var m Manifest
	text, err := os.ReadFile(filepath.Join(folder, manifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(folder, manifestFile), err)
	}
	m.Name = filepath.Base(folder) // it may have been renamed
	return m, nil
}

func (m Manifest) write(folder string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, manifestFile), append(text, '\n'), 0o600)
}

func (s Store) path(m Manifest, name, sum string) string {
	if m.Pool && strings.HasPrefix(name, filesFolder+"/") {
		return filepath.Join(s.poolFolder(), sum)
	}
	return filepath.Join(s.Folder, m.Name, filepath.FromSlash(name))
}

// checksums are SHA-256 sums, lower-case hexadecimal, by the name of a file.
type checksums map[string]string

// write puts the list into a backup's folder and returns its own checksum.
func (c checksums) write(folder string) (string, error) {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&text, "%s  %s\n", c[name], name)
	}
	path := filepath.Join(folder, checksumsFile)
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return "", err
	}
	_, sum, err := digest(path)
	return sum, err
}

// checksumsOf reads the list of a backup. It returns an error if the list has another checksum than in the manifest.
func (s Store) checksumsOf(m Manifest) (checksums, error) {
	path := filepath.Join(s.Folder, m.Name, checksumsFile)
	if _, sum, err := digest(path); err != nil || sum != m.ChecksumsSHA256 {
		return nil, fmt.Errorf("%s is damaged: its checksum is not the one in the manifest", path)
	}
	text, err := os.ReadFile(path)
	found := make(checksums)
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		found[name] = sum
	}
	return found, err
}

func digest(path string) (int64, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	return size, hex.EncodeToString(sum.Sum(nil)), err
}

// query reads one value.
func (s Store) query(ctx context.Context, query string, into any) error {
	return db.UsePlain(s.Database, func(pool *sql.DB) error { return pool.QueryRowContext(ctx, query).Scan(into) })
}

// execute runs statements that take no parameters.
func (s Store) execute(ctx context.Context, statements string) error {
	return db.UsePlain(s.Database, func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, statements)
		return err
	})
}

// dump writes the database into a file, without the rows of unlogged tables.
func (s Store) dump(ctx context.Context, path string) error {
	return s.run(ctx, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--no-unlogged-table-data", "--file="+path)
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

// environment returns the connection URL as variables of libpq.
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
