package audit

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"stoa/cmd/prove/testbed"
)

// counts are queries for rows that the database keeps for connected clients.
var counts = map[string]string{
	"socket_slots":        "SELECT count(*) FROM socket_leases JOIN socket_live_processes USING (process)",
	"upload_reservations": "SELECT count(*) FROM upload_reservations",
	"attachment_leases":   "SELECT count(*) FROM attachments WHERE lease_until IS NOT NULL",
	"advisory_locks": `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
	"unfinished_uploads": "SELECT count(*) FROM attachments WHERE status = 'pending'",
	// Agents whose used budget differs from the size of their files.
	"unaccounted_storage": `SELECT count(*) FROM (SELECT * FROM storage_usage WHERE agent_id <> '00000000-0000-0000-0000-000000000000') u
		FULL JOIN (SELECT owner_id, sum(reserved_bytes) AS bytes, count(*) FILTER (WHERE reserved_bytes > 0) AS files
			FROM attachments GROUP BY owner_id) a ON a.owner_id = u.agent_id
		WHERE coalesce(u.bytes, 0) <> coalesce(a.bytes, 0) OR coalesce(u.files, 0) <> coalesce(a.files, 0)`,
	"database_connections": "SELECT count(*) FROM pg_stat_activity WHERE usename = 'stoa'",
}

// gauges are resources of each process, with their metrics.
var gauges = map[string]string{"goroutines": "go_goroutines", "open_files": "process_open_fds", "memory": "process_resident_memory_bytes"}

// Holdings returns the resources that the service holds, over all processes.
func Holdings(ctx context.Context, bed *testbed.Bed) (map[string]float64, error) {
	held := make(map[string]float64)
	for name, statement := range counts {
		var n float64
		if err := bed.DB.QueryRowContext(ctx, statement).Scan(&n); err != nil {
			return nil, err
		}
		held[name] = n
	}
	for _, server := range bed.Servers {
		metrics, err := server.Metrics(ctx)
		if err != nil {
			return nil, err
		}
		for name, metric := range gauges {
			held[name] += metrics[metric]
		}
	}
	temporary, err := temporaryFiles(filepath.Join(bed.Data(), "files"))
	held["temporary_files"] = float64(temporary)
	return held, err
}

// temporaryFiles counts the files that are neither an original nor made from one.
func temporaryFiles(folder string) (n int, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Contains(filepath.Base(path), "tmp") {
			n++
		}
		return err
	})
	return n, err
}
