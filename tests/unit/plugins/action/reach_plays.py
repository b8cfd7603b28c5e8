# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What test_reach.py plays: everything that decides how Ansible connects to a host, play by play."""

HOSTS = """
all:
  vars:
    addressed: >-
      {{ [inventory_hostname, ansible_host | default(''), ansible_port | default(''), ansible_user | default(''),
      ansible_connection | default(''), ansible_shell_type | default('')] | join(' ') }}
  children:
    machines:
      vars:
        of_machine: "of_{{ inventory_hostname }}"
      hosts:
        first:
          ansible_host: 127.0.0.1
          ansible_user: of_first
          ansible_password: password of first alone
          ansible_become_password: become password of first alone
          ansible_ssh_private_key_file: /key/of/first
          ansible_ssh_executable: /bin/ssh
        jump:
          ansible_ssh_common_args: -o ProxyJump=bastion,inner -o "ProxyCommand=ssh -W %h:%p {{ inventory_hostname }}"
          ansible_ssh_pipelining: true
          ansible_timeout: 33
        templated:
          ansible_host: "{{ prefix }}.3"
          ansible_port: "{{ 2200 + 3 }}"
          prefix: 127.0.0
          ansible_remote_tmp: "/tmp/{{ prefix }}"
          ansible_become_exe: "/bin/{{ 'su' ~ 'do' }}"
        local:
          ansible_connection: local
          ansible_become_method: community.general.doas
        su:
          ansible_become_method: su
          ansible_become_user: "{{ 'post' }}gres"
          ansible_python_interpreter: "{{ '/opt/py' }}"
          ansible_shell_executable: /bin/bash
        winrm:
          ansible_connection: winrm
          ansible_host: 127.0.0.5
          ansible_user: Admin
          ansible_password: "{{ 'of ' ~ inventory_hostname }}"
          ansible_port: 5986
          ansible_winrm_transport: ntlm
          ansible_winrm_read_timeout_sec: 77
          ansible_winrm_server_cert_validation: ignore
          ansible_become_method: ansible.builtin.runas
          ansible_become_user: Admin
        psrp:
          ansible_connection: "{{ 'ansible.builtin.' ~ inventory_hostname }}"
          ansible_host: 127.0.0.6
          ansible_user: Admin
          ansible_password: of psrp
          ansible_psrp_auth: ntlm
          ansible_become_method: runas
          ansible_become_user: "{{ 'SYS' ~ 'TEM' }}"
    vaulted:
      hosts: {jump: {}, templated: {}}
    places:
      hosts:
        balancer:
          ansible_host: "10.0.0.{{ 3 + 4 }}"
          ansible_ssh_common_args: -o Tag={{ of_balancer }}
          of_balancer: 5
          ansible_user: of_balancer
          ansible_become_password: of balancer
          ansible_python_interpreter: /balancer/python
        windows_balancer:
          ansible_connection: winrm
          ansible_user: Admin
          ansible_password: of windows_balancer
          ansible_become_method: runas
          ansible_become_user: Admin
"""

PLAYS = """
- name: Plain
  hosts: machines
  gather_facts: false
  roles: [recorded]

- name: Keywords
  hosts: machines
  gather_facts: false
  collections: [community.general]
  remote_user: keyword
  port: 2299
  become: true
  become_user: keyword_root
  become_method: ansible.builtin.sudo
  become_flags: -H -n
  environment:
    GREETING: "{{ greeting }}, {{ ansible_user }}"
  roles: [recorded]

- name: Templates in keywords
  hosts: machines
  gather_facts: false
  tasks:
    - become: true
      become_user: "{{ of_machine }}"
      become_exe: "/bin/{{ of_machine }}"
      remote_user: "{{ of_machine }}"
      port: "{{ 2200 + inventory_hostname | length }}"
      connection: "{{ 'local' if inventory_hostname == 'su' else 'ssh' }}"
      become_flags: "{{ omit }}"
      check_mode: "{{ inventory_hostname == 'jump' }}"
      diff: "{{ inventory_hostname == 'su' }}"
      timeout: "{{ 100 + inventory_hostname | length }}"
      environment:
        - FIRST: "{{ of_machine }}"
        - "{{ {'SECOND': of_machine} }}"
      block:
        - ansible.builtin.import_role:
            name: recorded

- name: Variables of the play
  hosts: machines
  gather_facts: false
  vars:
    ansible_user: "play_{{ inventory_hostname }}"
    ansible_become: true
    ansible_become_password: "of the play for {{ inventory_hostname }}"
    ansible_port: 2288
    ansible_ssh_extra_args: -o Tag={{ inventory_hostname }}
    ansible_remote_tmp: /play
  roles: [recorded]

- name: Files of variables and parameters of the role
  hosts: machines
  gather_facts: false
  vars_files:
    - ["vars/{{ inventory_hostname }}.yml", vars/others.yml]
  roles:
    - role: recorded
      ansible_ssh_common_args: "-o Parameter={{ inventory_hostname }}"
      become: true

- name: All local
  hosts: first,jump,local,su
  gather_facts: false
  connection: local
  environment:
    GREETING: "{{ greeting }}"
  vars:
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  roles: [recorded]

- name: Become or not
  hosts: machines
  gather_facts: false
  tasks:
    - ansible.builtin.import_role:
        name: recorded
        tasks_from: become

- name: From another host
  hosts: machines
  gather_facts: false
  remote_user: keyword
  become: true
  tasks:
    - ansible.builtin.import_role:
        name: recorded
        tasks_from: elsewhere

- name: Delegated
  hosts: first,jump,su
  gather_facts: false
  remote_user: keyword
  become: true
  become_user: "{{ of_machine }}"
  vars:
    ansible_ssh_extra_args: -o Tag={{ inventory_hostname }}
  tasks:
    - ansible.builtin.include_role:
        name: recorded
        tasks_from: delegated
      loop: [balancer, windows_balancer, 127.0.0.99, localhost]
      loop_control:
        loop_var: place

- name: Variables of an included role and facts
  hosts: machines
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        ansible_user: "fact_{{ inventory_hostname }}"
        ansible_become: "{{ inventory_hostname == 'jump' }}"
      when: inventory_hostname in ['first', 'jump']

    - ansible.builtin.include_role:
        name: recorded
        apply:
          become: true
      vars:
        ansible_port: 2207
        ansible_ssh_common_args: -o Tag={{ inventory_hostname }}
        ansible_become_password: "of the include for {{ inventory_hostname }}"

- name: Localhost
  hosts: localhost
  gather_facts: false
  environment:
    GREETING: "{{ greeting }}"
  roles: [recorded]
"""

WITH_OPTIONS = """
- name: Plain
  hosts: machines
  gather_facts: false
  roles: [recorded]

- name: From another host
  hosts: machines
  gather_facts: false
  tasks:
    - ansible.builtin.import_role:
        name: recorded
        tasks_from: elsewhere

- name: Delegated
  hosts: first,jump,su
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: recorded
        tasks_from: delegated
      loop: [balancer, 127.0.0.99, localhost]
      loop_control:
        loop_var: place
"""

FILES = {
    "roles/recorded/tasks/main.yml": """
- reach:
    case: "{{ ansible_play_name }}"
  vars:
    ansible_ssh_executable: "/bin/ssh of {{ inventory_hostname }}"
  environment:
    OF_TASK: "{{ inventory_hostname }}"

- reach:
    case: "{{ ansible_play_name }}"
    hosts: "{{ ansible_play_hosts }}"
  vars:
    ansible_ssh_executable: "/bin/ssh of {{ inventory_hostname }}"
  environment:
    OF_TASK: "{{ inventory_hostname }}"
  run_once: true
""",
    "roles/recorded/tasks/elsewhere.yml": """
- reach:
    case: "{{ ansible_play_name }}"

- reach:
    case: "{{ ansible_play_name }}"
    hosts: "{{ ansible_play_hosts }}"
  run_once: true
  delegate_to: localhost
""",
    "roles/recorded/tasks/delegated.yml": """
- reach:
    case: "{{ ansible_play_name }}"
  delegate_to: "{{ place }}"

- reach:
    case: "{{ ansible_play_name }}"
    hosts: "{{ ansible_play_hosts }}"
    place: "{{ place }}"
  run_once: true
""",
    "roles/recorded/tasks/become.yml": """
- reach:
    case: "{{ ansible_play_name }}, become"
  become: true

- reach:
    case: "{{ ansible_play_name }}, stay"
  become: false

- reach:
    case: "{{ ansible_play_name }}, become"
    hosts: "{{ ansible_play_hosts }}"
    become: true
  run_once: true

- reach:
    case: "{{ ansible_play_name }}, stay"
    hosts: "{{ ansible_play_hosts }}"
    become: false
  run_once: true
""",
    "roles/recorded/vars/main.yml": """
greeting: "hello {{ inventory_hostname }} of {{ role_name }}"
""",
    "roles/recorded/defaults/main.yml": """
ansible_ssh_retries: 4
""",
    "group_vars/vaulted.yml": """
# Encrypted with the password "of the tests"
ansible_become_password: !vault |
          $ANSIBLE_VAULT;1.1;AES256
          36613363336465306434383533663335326464636636643539633765613230363830633366323764
          3431616562616266623530386262613032373435376665330a326630623536656164383463663337
          36626132386130636165623565623166396330633261393866653330383362646433346232363261
          3930626533643633390a353334613836376361363063303437313365623166626539373937353030
          6463
""",
    "vars/jump.yml": """
ansible_user: from_a_file
ansible_become_user: from_a_file
""",
    "vars/others.yml": """
ansible_ssh_extra_args: -o User=any
""",
}
