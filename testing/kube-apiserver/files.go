package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// files are what the components read and write; the exported ones are told to whoever started us.
type files struct {
	// Directory holds all of them, and the logs.
	Directory string `json:"directory"`
	// Kubeconfig is an administrator's.
	Kubeconfig string `json:"kubeconfig"`
	// Server is the API server's address.
	Server string `json:"server"`
	// Token is the administrator's.
	Token string `json:"token"`
	// Audit is the log of every request, one JSON object a line.
	Audit string `json:"audit"`

	etcd, port, tokens, certificates, authority, serviceAccountKey, auditPolicy string
}

// Requests by who, verb, object and answer; bodies would only fill the disk.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`

// write lays out the folder.
func write(directory string) (files, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return files{}, err
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return files{}, err
	}
	address, err := freeURL()
	if err != nil {
		return files{}, err
	}
	_, port, err := net.SplitHostPort(address.Host)
	if err != nil {
		return files{}, err
	}
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return files{}, err
	}
	in := func(name string) string { return filepath.Join(directory, name) }
	f := files{
		Directory:         directory,
		Kubeconfig:        in("kubeconfig"),
		Server:            "https://127.0.0.1:" + port,
		Token:             hex.EncodeToString(token),
		Audit:             in("audit.log"),
		port:              port,
		tokens:            in("tokens.csv"),
		certificates:      in("certificates"),
		authority:         in("certificates/apiserver.crt"),
		serviceAccountKey: in("service-account.key"),
		auditPolicy:       in("audit-policy.yaml"),
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return files{}, err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	texts := map[string]string{
		f.serviceAccountKey: string(pem.EncodeToMemory(block)),
		f.tokens:            f.Token + `,admin,admin,"system:masters"` + "\n",
		f.auditPolicy:       auditPolicy,
		f.Kubeconfig:        f.kubeconfig(),
	}
	for path, text := range texts {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return files{}, err
		}
	}
	return f, nil
}

func (f files) kubeconfig() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
contexts:
- {name: test, context: {cluster: test, user: admin}}
clusters:
- {name: test, cluster: {server: %q, certificate-authority: %q}}
users:
- {name: admin, user: {token: %q}}
`, f.Server, f.authority, f.Token)
}
