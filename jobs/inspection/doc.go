// Package inspection judges an uploaded file and makes what may be shown of it: a preview, and when it becomes public a
// published version (§2.7, §4.8, §8).
//
// Run, the parent half, starts this same binary with Subcommand; Main, the child half, does everything that touches the bytes.
// It is the only package that knows libvips and pdfcpu.
//
// Invariants. The child is confined before it reads a byte, whoever starts the server: namespaces and a root folder of its own, another
// user than root, no capabilities, bounded memory, processor time and file size, Landlock, an allowlist of system calls, an environment
// without secrets, no descriptor but the standard three. Measures overlap, and those that a kernel lacks are told (Confinement). It scans headers and structure with code of this package first
// (scan_jpeg.go, scan_png.go, scan_pdf.go), and only what passes reaches a library; of libvips only the one loader of the
// recognised type is open. Nothing is accepted that was not decoded without complaint and rendered.
//
// Failure. What the bytes cause is a verdict, never an error: a refusal found by the scan, a decoder that aborts, a limit
// reached, a result that makes no sense; Report.Ending tells a crash and a limit from a judgement. An error means that this machine
// could not judge (no child, no space, a cancelled context, a child that somebody else killed); the same file may be tried again.
//
// Concurrency. Runs share nothing and may overlap; how many do is the caller's affair (§8 grants two).
package inspection
