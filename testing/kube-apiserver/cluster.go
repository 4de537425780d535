package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// How long a component may take to be ready. It takes seconds on an idle machine; a busy one is no failure.
const readyMax = 3 * time.Minute

// Between two looks whether a component is ready.
const look = 100 * time.Millisecond

// How long the children may take to end by themselves.
const endMax = 10 * time.Second

// The controllers that tests rely on. All others would only cost time.
const controllers = "namespace-controller,garbage-collector-controller,serviceaccount-controller," +
	"serviceaccount-token-controller,deployment-controller,replicaset-controller"

// cluster is a running control plane.
type cluster struct {
	files    files
	store    *embed.Etcd
	children []*exec.Cmd
}

// start brings up the store, the API server and the controllers, in this order, each when the one before is ready.
// When a child ends by itself, cancel hears why.
func start(ctx context.Context, directory string, cancel context.CancelCauseFunc) (*cluster, error) {
	files, err := write(directory)
	if err != nil {
		return nil, err
	}
	cluster := &cluster{files: files}
	if err := cluster.startStore(); err != nil {
		cluster.stop()
		return nil, fmt.Errorf("etcd: %w", err)
	}
	if err := cluster.spawn(cancel, roleAPIServer, cluster.apiServerFlags()...); err != nil {
		cluster.stop()
		return nil, err
	}
	if err := cluster.awaitReady(ctx); err != nil {
		cluster.stop()
		return nil, err
	}
	if err := cluster.spawn(cancel, roleControllerManager, cluster.controllerFlags()...); err != nil {
		cluster.stop()
		return nil, err
	}
	return cluster, nil
}

func (c *cluster) startStore() error {
	config := embed.NewConfig()
	config.Dir = filepath.Join(c.files.Directory, "etcd")
	config.LogLevel = "error"
	config.LogOutputs = []string{filepath.Join(c.files.Directory, "etcd.log")}
	// What is lost with the machine is only a test's.
	config.UnsafeNoFsync = true
	client, err := freeURL()
	if err != nil {
		return err
	}
	peer, err := freeURL()
	if err != nil {
		return err
	}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	store, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	c.store = store
	c.files.etcd = client.String()
	select {
	case <-store.Server.ReadyNotify():
		return nil
	case <-time.After(readyMax):
		return fmt.Errorf("not ready within %s", readyMax)
	}
}

func (c *cluster) apiServerFlags() []string {
	f := c.files
	return []string{
		"--etcd-servers=" + f.etcd,
		"--bind-address=127.0.0.1",
		"--secure-port=" + f.port,
		"--cert-dir=" + f.certificates,
		// The address of a test's server is loopback, which no Endpoints may hold.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--token-auth-file=" + f.tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + f.serviceAccountKey,
		"--service-account-signing-key-file=" + f.serviceAccountKey,
		"--audit-policy-file=" + f.auditPolicy,
		"--audit-log-path=" + f.Audit,
	}
}

func (c *cluster) controllerFlags() []string {
	f := c.files
	return []string{
		"--kubeconfig=" + f.Kubeconfig,
		"--controllers=" + controllers,
		"--leader-elect=false",
		"--bind-address=127.0.0.1",
		"--secure-port=0",
		"--service-account-private-key-file=" + f.serviceAccountKey,
		"--root-ca-file=" + f.authority,
	}
}

// spawn starts this program again in a role. The child dies with us.
func (c *cluster) spawn(cancel context.CancelCauseFunc, role string, flags ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.files.Directory, role+".log"))
	if err != nil {
		return err
	}
	child := exec.Command(program, append([]string{role}, flags...)...)
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := child.Start(); err != nil {
		return fmt.Errorf("start %s: %w", role, err)
	}
	c.children = append(c.children, child)
	go func() {
		err := child.Wait()
		_ = log.Close()
		cancel(fmt.Errorf("%s ended: %w; see %s", role, orDone(err), log.Name()))
	}()
	return nil
}

func orDone(err error) error {
	if err == nil {
		return fmt.Errorf("without an error")
	}
	return err
}

// awaitReady polls /readyz until it says yes.
func (c *cluster) awaitReady(ctx context.Context) error {
	deadline := time.Now().Add(readyMax)
	for time.Now().Before(deadline) {
		if c.isReady() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(look):
		}
	}
	return fmt.Errorf("the API server is not ready within %s; see %s", readyMax, c.files.Directory)
}

func (c *cluster) isReady() bool {
	pem, err := os.ReadFile(c.files.authority)
	if err != nil {
		return false
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 5 * time.Second}
	request, err := http.NewRequest(http.MethodGet, c.files.Server+"/readyz", nil)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+c.files.Token)
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// stop ends the children in the reverse order of their start, then the store.
func (c *cluster) stop() {
	for i := len(c.children) - 1; i >= 0; i-- {
		child := c.children[i]
		_ = child.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(endMax, func() { _ = child.Process.Kill() })
	}
	if c.store != nil {
		c.store.Close()
	}
}

// freeURL finds a loopback port that nothing listens on.
func freeURL() (url.URL, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return url.URL{}, err
	}
	defer func() { _ = listener.Close() }()
	return url.URL{Scheme: "http", Host: listener.Addr().String()}, nil
}
