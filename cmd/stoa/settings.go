package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/lib/pq"

	"stoa/cmd/stoa/terminal"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/web"
	"stoa/graph/webhooks"
)

// envPrefix and the name of a flag make the name of its environment variable: --data-dir is STOA_DATA_DIR.
const envPrefix = "STOA"

// settings are the settings of a server (§11).
type settings struct {
	databaseSettings
	replicaSettings
	fileSettings
	operatorSettings
	mailSettings
	secretSettings
	webhookSettings
	witnessSettings
	logSettings
	listenSettings
	originSettings

	Roles          []string       `default:"api,events,jobs" enum:"api,events,jobs" help:"The parts that this process runs."`
	TrustedProxies []netip.Prefix `help:"CIDRs whose X-Forwarded-For is believed."`
	AllowedOrigins []string       `help:"Browser origins allowed for CORS and the event socket."`
	Site           string         `default:"on" enum:"on,off" help:"The public site; off leaves one small page at /."`
	TokenTTL       time.Duration  `default:"720h" help:"Lifetime of a bearer token."`
	Welcome        bool           `help:"Print where to look once the server is ready, with a link that signs an operator in, also where standard error is no terminal."`
	Limit          limits.Quotas  `embed:"" prefix:"limit-" group:"Limits; 0 switches one off"`

	Connection connectionSettings `embed:"" prefix:"limit-" group:"Limits; 0 switches one off"`
}

type listenSettings struct {
	Listen string `default:"127.0.0.1:8080" help:"Address of the public listener: REST, event socket, health."`
}

// originSettings hold the URL at which clients reach the server, whatever the address of its listener.
type originSettings struct {
	BaseURL string `help:"Origin at which clients reach the public listener; empty: http:// and its address."`
}

type dataSettings struct {
	DataDir string `default:"./data" help:"Folder of the private database and of the server's other files."`
}

// databaseSettings are the settings of every command that opens the database.
type databaseSettings struct {
	dataSettings

	DatabaseURL string `help:"PostgreSQL 15 or newer, on one or several hosts; empty: a private cluster in the data folder."`

	DatabaseDirectURL string `help:"The same database without a pooler, for connections that need a session; empty: --database-url."`
}

type replicaSettings struct {
	DatabaseReplicaURL    string        `help:"A hot standby for reads of the task board without a token; empty: the primary answers them."`
	DatabaseReplicaMaxLag time.Duration `default:"10s" help:"How old answers of the standby may be; beyond it the primary answers."`
}

type fileSettings struct {
	FilesURL string `help:"Object store, such as s3://bucket?endpoint=https://host&region=name; empty: the data folder."`
}

// operatorSettings configure the operator listener (§10).
type operatorSettings struct {
	OperatorListen string `default:"127.0.0.1:8081" help:"Address of the operator listener; only operators should reach it."`
	OperatorToken  string `help:"Bearer token of the operators; empty: made at the first start and kept in the data folder."`
}

// mailSettings configure mail. If neither URL nor sender is set, no mail is sent.
type mailSettings struct {
	SMTPURL string `name:"smtp-url" help:"Mail server, such as smtp://user:password@host:587 or smtps://host; file:FOLDER keeps mails as files."`

	SMTPPasswordFile string `name:"smtp-password-file" help:"File of the mail server's password, instead of one in the URL."`
	SMTPCAFile       string `name:"smtp-ca-file" help:"File of the certificates, in PEM, that the mail server's is signed by; empty: the system's."`
	MailFrom         string `help:"Sender of all mails, such as stoa@example.org or Stoa <stoa@example.org>."`
}

// secretSettings name the file of the installation's key, from which codes and links are derived.
type secretSettings struct {
	SecretKeyFile string `help:"File of the installation's key, 32 bytes in base64, mode 0600; empty: made at the first start, in the data folder."`
}

// webhookSettings decide whether agents may have their events sent to their own addresses.
type webhookSettings struct {
	Webhooks string `default:"off" enum:"off,on" help:"Whether agents may have their events sent to addresses of theirs."`

	WebhooksAllowLoopback bool `help:"Allow webhooks that lead to this machine, over http too; for trying only."`
}

func (s webhookSettings) sender() *webhooks.Sender {
	if s.Webhooks != "on" {
		return nil
	}
	return webhooks.NewSender(webhooks.SenderConfig{AllowLoopback: s.WebhooksAllowLoopback})
}

type witnessSettings struct {
	Witnesses string `placeholder:"VKEY URL" help:"Witnesses that sign the key log: vkey and URL a line; a comma separates as well."`
}

// connectionSettings limit the open connections of each listener.
type connectionSettings struct {
	Connections           int `default:"16384" help:"Open connections per process and listener; less where ulimit -n is low."`
	ConnectionsPerAddress int `default:"2048" help:"Open connections per address, trusted proxies excepted."`
}

// logSettings configure the log. Logs never hold a token, a code, a key, a ciphertext or a password.
type logSettings struct {
	LogFormat string     `default:"auto" enum:"auto,text,json" help:"text or json; auto: text on a terminal, else json."`
	LogLevel  slog.Level `default:"info" help:"debug, info, warn or error."`
}

// has reports whether the process has a role: api, events or jobs.
func (s *settings) has(role string) bool { return slices.Contains(s.Roles, role) }

func (s *settings) Validate() error {
	checks := []error{
		s.databaseSettings.Validate(), s.checkReplica(s.DatabaseURL), s.fileSettings.Validate(), s.operatorSettings.Validate(),
		s.mailSettings.Validate(), s.witnessSettings.Validate(),
		checkLimits(s.Limit), checkLimits(s.Connection),
		checkAddress("listen", s.Listen), checkAddress("operator-listen", s.OperatorListen),
	}
	for _, origin := range s.AllowedOrigins {
		if parsed, err := url.Parse(origin); err != nil || parsed.Host == "" || parsed.Scheme+"://"+parsed.Host != origin {
			checks = append(checks, fmt.Errorf("--allowed-origins: %q is not an origin such as https://example.org", origin))
		}
	}
	if s.BaseURL != "" {
		checks = append(checks, checkBaseURL("base-url", s.BaseURL))
	}
	if len(s.Roles) == 0 {
		checks = append(checks, errors.New("--roles must name at least one of api, events and jobs"))
	}
	if s.TokenTTL < time.Second {
		checks = append(checks, errors.New("--token-ttl must be at least 1s"))
	}
	return errors.Join(checks...)
}

// Validate refuses URLs that lib/pq cannot read, and DatabaseDirectURL without DatabaseURL.
func (s *databaseSettings) Validate() error {
	if s.DatabaseURL == "" && s.DatabaseDirectURL != "" {
		return errors.New("--database-direct-url needs --database-url: it is another way to the same database")
	}
	return errors.Join(checkDatabaseURL("database-url", s.DatabaseURL), checkDatabaseURL("database-direct-url", s.DatabaseDirectURL))
}

// checkDatabaseURL refuses a URL that lib/pq cannot read. The error repeats neither the URL nor lib/pq's error: both may hold a
// password.
func checkDatabaseURL(flag, address string) error {
	if address == "" {
		return nil
	}
	if _, err := pq.NewConnector(spreadHosts(address)); err != nil {
		return errors.New("--" + flag + " is not a connection URL such as postgres://user:password@host:5432/database?sslmode=disable;" +
			" special characters of user and password are written as %XX")
	}
	return nil
}

// span ends the names of limits that the database counts as 32-bit integers (stoa_take).
var span = regexp.MustCompile(`Per(Minute|Hour|Day)$`)

// checkLimits refuses limits below 0, and limits that the database cannot count, in a struct of integers.
func checkLimits(settings any) error {
	for field, limit := range reflect.ValueOf(settings).Fields() {
		switch {
		case limit.Int() < 0:
			return fmt.Errorf("--limit%s cannot be below 0; 0 switches it off", terminal.Hyphened(field.Name))
		case limit.Int() > math.MaxInt32 && span.MatchString(field.Name):
			return fmt.Errorf("--limit%s cannot be above %d; 0 switches it off", terminal.Hyphened(field.Name), math.MaxInt32)
		}
	}
	return nil
}

func checkAddress(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("--%s must be an address such as 127.0.0.1:8080, not %q: %w", flag, address, err)
	}
	return nil
}

// baseURL is an origin as links and descriptions hold it.
var baseURL = regexp.MustCompile(`^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

func checkBaseURL(flag, origin string) error {
	if !baseURL.MatchString(origin) {
		return fmt.Errorf("--%s must be an origin such as https://stoa.example, without a path, not %q", flag, origin)
	}
	return nil
}

// logger writes to a file in the format that was set.
func (s logSettings) logger(to *os.File) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.LogLevel}
	if s.LogFormat == "text" || s.LogFormat == "auto" && terminal.Is(to) {
		return slog.New(slog.NewTextHandler(to, options))
	}
	return slog.New(slog.NewJSONHandler(to, options))
}

// stoaVariables are the variables of the environment that begin with STOA_.
func stoaVariables() map[string]string {
	found := make(map[string]string)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, envPrefix+"_") {
			found[name] = value
		}
	}
	return found
}

// ignoreEmptyVariables unsets empty settings.
func ignoreEmptyVariables() {
	for name, value := range stoaVariables() {
		if value == "" {
			_ = os.Unsetenv(name) // fails only for names that cannot be set
		}
	}
}

// unknownSettings lists variables that begin with STOA_ but are no settings: misspelled variables, or variables of another
// version.
func unknownSettings(model *kong.Application) []string {
	found := stoaVariables()
	delete(found, slack.Variable)
	for _, command := range model.Leaves(false) {
		for _, flag := range command.Flags {
			for _, name := range flag.Envs {
				delete(found, name)
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// requireLocal returns an error unless only this machine can reach a server with these settings.
func requireLocal(listen listenSettings, origin originSettings) error {
	host, _, err := net.SplitHostPort(listen.Listen)
	if err != nil || !web.IsLoopback(host) {
		return fmt.Errorf("the server listens on %s, which is not a loopback address: others may look on", listen.Listen)
	}
	if origin.BaseURL == "" {
		return nil
	}
	parsed, err := url.Parse(origin.BaseURL)
	if err != nil || !web.IsLoopback(parsed.Hostname()) {
		return fmt.Errorf("clients reach the server at %s, which is not this machine: others may look on", origin.BaseURL)
	}
	return nil
}
