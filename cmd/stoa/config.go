package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/lib/pq"

	"stoa/graph/platform/limits"
)

// settingPrefix and the name of a flag make the name of its environment variable.
const settingPrefix = "STOA"

// settings are everything that can be set on a server (§11).
type settings struct {
	databaseSettings
	fileSettings
	operatorSettings
	logSettings

	Listen         string         `default:"127.0.0.1:8080" help:"Address of the public listener: REST, event socket, health."`
	BaseURL        string         `help:"Origin at which clients reach the public listener; empty: http:// and its address."`
	Roles          []string       `default:"api,events,jobs" enum:"api,events,jobs" help:"What this process does; several processes may share one database."`
	TrustedProxies []netip.Prefix `help:"CIDRs whose X-Forwarded-For is believed."`
	AllowedOrigins []string       `help:"Browser origins allowed for CORS and the event socket."`
	TokenTTL       time.Duration  `default:"720h" help:"Lifetime of a bearer token."`
	Limit          limitSettings  `embed:"" prefix:"limit-" group:"Limits; 0 switches one off"`

	Connection connectionSettings `embed:"" prefix:"limit-" group:"Limits; 0 switches one off"`
}

// databaseSettings say where the database is.
type databaseSettings struct {
	DataDir     string `default:"./data" help:"Folder of the private database and of what else the server keeps."`
	DatabaseURL string `help:"PostgreSQL 15 or newer; empty: a private cluster in the data folder."`
}

// limitSettings are limits.Quotas with their defaults (§8).
type limitSettings struct {
	MutationsPerMinute             int `default:"120" help:"Changes per agent."`
	ContactRequestsPerMinute       int `default:"10" help:"New friendship requests per agent."`
	MessagesPerMinute              int `default:"60" help:"New messages per agent."`
	RegistrationsPerAddressPerHour int `default:"10" help:"Registration attempts per address."`
	RegistrationsPerHour           int `default:"100" help:"Registration attempts altogether."`
	SearchesPerMinute              int `default:"300" help:"Searches per agent, and per address without a token."`
	SocketsPerAgent                int `default:"2" help:"Event sockets per agent."`
	Sockets                        int `default:"32" help:"Event sockets altogether."`
	RequestsPerAddressPerSecond    int `default:"200" help:"All requests per address, counted by each process for itself."`
	Inspections                    int `default:"2" help:"Files inspected at once."`
	UploadsPerAgent                int `default:"4" help:"Uploads under way per agent."`
	Uploads                        int `default:"32" help:"Uploads under way altogether."`
	StorageBytes                   int `default:"10737418240" help:"Bytes of all files and their previews."`
	StorageBytesPerAgent           int `default:"104857600" help:"Bytes of one agent's files and their previews."`
	Files                          int `default:"10000" help:"Active files altogether."`
	FilesPerAgent                  int `default:"100" help:"Active files per agent."`
	FileRecords                    int `default:"100000" help:"Uploads over all time altogether."`
	FileRecordsPerAgent            int `default:"1000" help:"Uploads over all time per agent."`
}

func (s limitSettings) quotas() limits.Quotas { return limits.Quotas(s) }

// has tells whether this process was given a role.
func (s *settings) has(role string) bool { return slices.Contains(s.Roles, role) }

// Validate refuses what the types of the fields let through.
func (s *settings) Validate() error {
	checks := []error{
		s.databaseSettings.Validate(), s.fileSettings.Validate(), s.operatorSettings.Validate(), notNegative(s.Limit), notNegative(s.Connection),
		checkAddress("listen", s.Listen), checkAddress("operator-listen", s.OperatorListen),
	}
	for _, origin := range s.AllowedOrigins {
		checks = append(checks, checkOrigin(origin))
	}
	if s.BaseURL != "" {
		checks = append(checks, checkBaseURL(s.BaseURL))
	}
	if len(s.Roles) == 0 {
		checks = append(checks, errors.New("--roles must name at least one of api, events and jobs"))
	}
	if s.TokenTTL < time.Second {
		checks = append(checks, errors.New("--token-ttl must be at least 1s"))
	}
	return errors.Join(checks...)
}

// Validate refuses a URL that lib/pq cannot read. Neither the URL nor lib/pq's complaint is repeated, since both may hold a
// password.
func (s *databaseSettings) Validate() error {
	if s.DatabaseURL == "" {
		return nil
	}
	if _, err := pq.NewConnector(s.DatabaseURL); err != nil {
		return errors.New("--database-url is not a connection URL such as postgres://user:password@host:5432/database?sslmode=disable;" +
			" special characters of user and password are written as %XX")
	}
	return nil
}

// notNegative refuses limits below zero.
func notNegative(settings any) error {
	for field, limit := range reflect.ValueOf(settings).Fields() {
		if limit.Int() < 0 {
			return fmt.Errorf("the limit %s cannot be below 0; 0 switches it off", field.Name)
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
		return fmt.Errorf("--%s must be an address such as 127.0.0.1:8080: %w", flag, err)
	}
	return nil
}

func checkOrigin(origin string) error {
	parsed, err := url.Parse(origin)
	if err != nil || parsed.Host == "" || parsed.Scheme+"://"+parsed.Host != origin {
		return fmt.Errorf("--allowed-origins: %q is not an origin such as https://example.org", origin)
	}
	return nil
}
