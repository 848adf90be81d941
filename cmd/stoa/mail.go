package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"os"
	"time"

	"stoa/cmd/stoa/secrets"
	"stoa/graph/email"
)

// Validate refuses settings that cannot send mail.
func (s mailSettings) Validate() error {
	_, _, err := s.open("")
	return err
}

// open returns the mailer, which has not connected yet, and the sender; nil if mail is not set up. Its errors hold no password.
func (s mailSettings) open(dataDir string) (email.Mailer, *mail.Address, error) {
	switch {
	case s.SMTPURL == "" && (s.MailFrom != "" || s.SMTPPasswordFile != "" || s.SMTPCAFile != ""):
		return nil, nil, errors.New("--smtp-url is missing: without it no mail is sent, and the other settings of mail mean nothing")
	case s.SMTPURL == "":
		return nil, nil, nil
	case s.MailFrom == "":
		return nil, nil, errors.New("--mail-from is missing: mail needs a sender, such as stoa@example.org")
	}
	from, err := mail.ParseAddress(s.MailFrom)
	if err != nil {
		return nil, nil, errors.New("--mail-from must be an address such as stoa@example.org or Stoa <stoa@example.org>")
	}
	if _, err := email.Parse(from.Address); err != nil {
		return nil, nil, fmt.Errorf("--mail-from %w", err)
	}
	config := email.MailerConfig{URL: s.SMTPURL, DataDir: dataDir}
	if s.SMTPPasswordFile != "" {
		if config.Password, err = secrets.ReadFile(s.SMTPPasswordFile); err != nil {
			return nil, nil, fmt.Errorf("--smtp-password-file: %w", err)
		}
	}
	if s.SMTPCAFile != "" {
		certificates, err := os.ReadFile(s.SMTPCAFile)
		if err != nil {
			return nil, nil, fmt.Errorf("--smtp-ca-file: %w", err)
		}
		if config.CA = x509.NewCertPool(); !config.CA.AppendCertsFromPEM(certificates) {
			return nil, nil, fmt.Errorf("--smtp-ca-file: %s holds no certificate in PEM", s.SMTPCAFile)
		}
	}
	mailer, err := email.NewMailer(config)
	if err != nil {
		return nil, nil, fmt.Errorf("--smtp-url %w", err)
	}
	return mailer, from, nil
}

// mailCommand helps to set up mail.
type mailCommand struct {
	Test mailTestCommand `cmd:"" help:"Send a test mail and print the mail server's answer."`
}

type mailTestCommand struct {
	dataSettings
	mailSettings

	Address string `arg:"" help:"To whom."`
}

func (c *mailTestCommand) Validate() error {
	if c.SMTPURL == "" {
		return errors.New("mail is not set up: set STOA_SMTP_URL and STOA_MAIL_FROM as for the server")
	}
	if _, err := email.Parse(c.Address); err != nil {
		return fmt.Errorf("the address %w", err)
	}
	return c.mailSettings.Validate()
}

// Run sends one mail without the queue. It returns an error unless the mail server accepts it.
func (c *mailTestCommand) Run(out io.Writer) error {
	if err := c.actAsOwner(); err != nil {
		return err
	}
	mailer, from, err := c.open(c.DataDir)
	if err != nil {
		return err
	}
	to, err := email.Parse(c.Address)
	if err != nil {
		return err
	}
	message, err := email.NewTest(from, to, time.Now())
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "Sending a test mail to %s over %s.\n", to, mailer); err != nil {
		return err
	}
	answer, err := mailer.Send(context.Background(), message)
	if err != nil {
		return fmt.Errorf("the mail was not accepted: %w", err)
	}
	_, err = fmt.Fprintf(out, "Accepted: %s\n", answer)
	return err
}
