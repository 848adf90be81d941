package selftest

// files are bugs of uploads and the file store (§4.8).
var files = []Row{
	{
		Name: "file-uninspected", Promise: "A file that the inspection refuses is refused (§4.8).", File: "graph/attachments/inspect.go",
		Old: "if !report.Accepted {", New: "if !report.Accepted && report.Reason == \"\" {",
	},
	{
		Name: "file-refused", Promise: "A sound file is never refused (§4.8).", File: "graph/attachments/inspect.go",
		Old:    "report, err := inspect(ctx, original, held.Purpose)\n",
		New:    "report, err := inspect(ctx, original, held.Purpose)\n\tif errors.Is(err, ErrCrashed) {\n\t\treport, err = Report{Reason: \"It cannot be read.\", Remove: func() error { return nil }}, nil\n\t}\n",
		Faults: "inspectors-killed",
	},
	{
		Name: "file-fingerprint", Promise: "Other bytes under the same upload_id are idempotency_conflict (§1.7).", File: "graph/attachments/upload.go",
		Old: "bytes.Equal(r.SHA256, f.sha256)", New: "bytes.Equal(r.SHA256[:0], f.sha256[:0])",
	},
	{
		Name: "file-budget-race", Promise: "The storage budget holds for uploads at once (§8).", File: "graph/attachments/attachments.sql",
		Old: "SELECT FROM storage_usage WHERE agent_id = :everyone FOR UPDATE;", New: "SELECT FROM storage_usage WHERE agent_id = :everyone;",
	},
}
