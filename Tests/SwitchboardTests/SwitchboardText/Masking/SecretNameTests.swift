import Switchboard
import SwitchboardTestSupport
import SwitchboardText
import Testing

/// Names as they are used by OAuth, clouds, payments, banks, frameworks and databases.
struct SecretNameTests {
    /// Parameters, members, header fields and cookies with secrets.
    private static let secrets = words(
        """
        access_control_token accessControlPassword api_keys private_keys accessKeys bot_tokens deviceTokens passcodes \
        pw psk bindpw bind_pw keystore_pass bearerAuth proxy_auth auth_header tls_key wifi_key key_material pin_number \
        phone_code email_code magic_link login_ticket creds \
        access_token accessToken AccessToken access-token refresh_token refreshToken id_token idToken id_token_hint \
        client_secret clientSecret CLIENT_SECRET client_assertion assertion saml_assertion SAMLResponse SAMLart \
        device_code deviceCode user_code authorization_code authorizationCode auth_code authCode access_code \
        code_verifier oauth_token oauth_token_secret oauth_verifier oauth_signature oauth_consumer_key \
        registration_access_token initial_access_token subject_token actor_token bearer_token BearerToken jwt jwtToken \
        token token_v2 token1 newToken xoxbToken sessionToken session_token SessionToken security_token \
        X-Amz-Security-Token X-Amz-Signature X-Amz-Credential aws_secret_access_key AWSSecretKey aws_session_token \
        SecretAccessKey SecretKey secretKey secret_key secret-key AccountKey accountKey SharedAccessKey \
        SharedAccessSignature sharedAccessKey sig signature Signature x-goog-signature X-Goog-Credential \
        Ocp-Apim-Subscription-Key subscription-key x-functions-key functions_key storage_key connectionString \
        ConnectionString connection_string apiKey api_key api-key ApiKey APIKey apikey X-Api-Key x_api_key \
        google_api_key stripe_api_key stripe_secret_key STRIPE_SECRET_KEY webhook_secret signing_secret \
        signing_key signingKey endpoint_secret client_key clientKey consumer_key consumerSecret consumer_secret \
        app_secret appSecret app_key application_key applicationKey server_key private_key privateKey PrivateKey \
        ssh_key ssh_private_key deploy_key encryption_key encryptionKey decryption_key aes_key master_key masterKey \
        hmac_key sessionKey session_key write_key license_key integration_key routing_secret account_secret \
        admin_key recovery_key backup_key security_key wallet_key developer_key \
        password Password PASSWORD passwd pwd passwords password1 password2 passwordConfirmation \
        password_confirmation passwordConfirm confirmPassword confirm_password new_password newPassword old_password \
        oldPassword current_password currentPassword user_password userPassword db_password DB_PASSWORD dbPassword \
        database_password smtp_password admin_password rootPassword root_password wp_pass db_pass user_pass \
        password_hash passwordHash encrypted_password temp_password loginPassword passphrase keyPassphrase passcode \
        pass_phrase passCode pin user_pin userPin new_pin card_pin pin_code pinCode \
        otp otp_code otpCode totp_code totpSecret mfa_code mfaCode mfa_token 2fa_code tfa_code two_factor_code \
        sms_code smsCode verification_code verificationCode verify_code security_code securityCode confirmation_code \
        confirmationCode activation_code recovery_code recovery_codes backup_codes reset_code reset_token \
        resetToken reset_password_token passwordResetToken invite_code invitation_token one_time_code onetimePassword \
        login_code device_token push_token fcm_token apns_token deviceToken registration_token \
        csrf csrf_token csrfToken _csrf csrfmiddlewaretoken XSRF-TOKEN X-CSRF-Token X-XSRF-TOKEN xsrf \
        authenticity_token __RequestVerificationToken sessionid session_id sessionId SessionID JSESSIONID PHPSESSID \
        ASP.NET_SessionId connect.sid sid laravel_session gitlab_session .ASPXAUTH sess_id \
        cvv cvc cvv2 cvn card_cvv cardCvc card_number cardNumber cc_number ccNumber creditCardNumber card-number \
        credit_card_number payment_token card_token cardToken iban_token plaid_access_token public_token_secret \
        authToken auth_token X-Auth-Token x-auth-key auth_key authKey AuthKey auth authorization Authorization \
        X-Vault-Token X-Gitlab-Token X-Shopify-Access-Token X-GitHub-OTP Private-Token JOB-TOKEN DPoP \
        github_token GITHUB_TOKEN npm_token slack_token bot_token botToken telegram_token personal_access_token \
        credentials credential user_credentials secret secrets secretValue secret_value client_secrets secret_id \
        seed_phrase recovery_phrase mnemonic passkey privkey basic_auth securityAnswer auth_cookie remember_token LtpaToken2 \
        hub.verify_token PGPASSWORD MYSQL_PWD Stripe-Signature X-Hub-Signature-256 devicecode verificationcode cardnumber userpin signingkey \
        page_access_token nextRefreshToken async_token continuation_token continuationToken previous_token \
        facebookPageToken fb_page_token csrf_page_token session_page_token access_token_page_token next_token_code \
        forgotPasswordToken enable_secret authorization_header token_response x-rapidapi-key magic_link_token magicToken unsubscribe_token upload_token share_token
        """)

    /// Names whose values are no secrets.
    private static let harmless = words(
        """
        access-control-allow-credentials access-control-max-age max_tokens total_tokens \
        monkey keyboard keyword keywords key_count keyName turkey donkey hockey jockey whiskey tokenize tokenizer \
        tokenization tokenized token_type tokenType token_type_hint token_endpoint tokenEndpoint token_count \
        token_limit max_token_count expires_in expires_at token_expires_at tokenExpiry token_expiration refresh_token_expires_in \
        token_endpoint_auth_method token_endpoint_auth_methods_supported id_token_signing_alg_values_supported \
        access_token_lifetime access_token_url accessTokenUri client_id clientId client_name client_uri \
        client_secret_expires_at client_assertion_type grant_type response_type scope scopes state nonce code_challenge \
        code_challenge_method redirect_uri audience issuer interval verification_uri \
        zip_code zipCode postal_code postcode country_code countryCode status_code statusCode error_code errorCode \
        currency_code language_code lang_code area_code dial_code promo_code coupon_code discount_code product_code \
        bar_code barcode qr_code color_code airport_code bank_code branch_code sort_code swift_code reason_code \
        response_code exit_code http_code codec codepoint encode decode decoder coder \
        sort_key sortKey primary_key primaryKey foreign_key foreignKey partition_key public_key publicKey cache_key \
        cacheKey idempotency_key Idempotency-Key dedup_key routing_key unique_key group_key hash_key range_key \
        object_key translation_key message_key search_key order_key next_key start_key LastEvaluatedKey \
        project_key issue_key registry_key map_key index_key json_key keystore keyring keyframe key_path key_id keyId \
        access_key_id AWSAccessKeyId kid Sec-WebSocket-Key Sec-WebSocket-Accept Surrogate-Key \
        author author_id authors authored authority authorities authentic authenticated X-Authored-By oauth_nonce \
        oauth_timestamp oauth_version oauth_callback auth_type auth_time authMethod auth_provider authenticator \
        WWW-Authenticate Access-Control-Allow-Credentials Access-Control-Allow-Headers Access-Control-Expose-Headers \
        pinned pin_count pins pinterest pinCount shipping shippingAddress spinner spin opinion mapping ping pinyin \
        passenger passengers passage passport_country compass bypass password_changed_at passwordChangedAt \
        password_policy passwordStrength password_expires_at password_last_changed password_required has_password \
        hasPassword requires_password has_access_token forgot_password showPassword password_url password_length password_field password_rules \
        secretary secretariat secret_name secretName secret_version secret_path is_secret session_count sessionTimeout \
        Session-Timeout session_duration session_type sessions training_session signatures_count signature_algorithm \
        signatureMethod signature_version sign signed_at signup design assigned signal \
        cookie_policy cookies_enabled credential_type credentialStatus credentials_count otp_enabled otp_required \
        otpType mfa_enabled mfa_method two_factor_enabled jwt_issuer jwt_alg jwtExpiration csrf_enabled \
        cart_id card_type cardBrand card_last4 card_exp_month card_holder cardholder account_number_type account_id \
        account_name routing_number order_number phone_number phoneNumber number house_number invoice_number \
        iban bic amount currency email username user_name user_id login first_name city street address_line1 country \
        page per_page limit offset cursor next_page sort order filter query q id uuid name title description body text \
        content type status created_at updated_at version url href link image thumbnail width height color size \
        price quantity total count tags category hash checksum etag md5 sha256 crc32 timestamp timezone locale \
        seed random_seed phrase search_phrase connection connection_id connection_type string query_string \
        page_token pageToken nextPageToken next_page_token prevPageToken pagination_token next_token NextToken \
        previousPageToken NextContinuationToken $skiptoken $deltatoken syncToken nextSyncToken \
        newStartPageToken nextForwardToken cursor_token \
        response request_id trace_id span_id correlation_id device_id device_name device_type deviceModel
        """)

    /// Secrets that the rule misses. An app adds them with `Redaction.adding`.
    private static let misses = words(
        """
        seed dsn hmac salt ticket refresh wordpress_logged_in token_id sas tan cf_clearance \
        g-recaptcha-response database_url service_account_json ssn account_number
        """)

    /// Names that the rule takes for secrets.
    private static let falseAlarms = words(
        """
        continuation-token secret_santa token_ring token_program signature_dish reset_password save_password email_signature \
        method_signature time_signature key_signature client_server_key cvv_check
        """)

    private static func words(_ text: String) -> [String] {
        text.split(separator: " ").map(String.init)
    }

    private func isMasked(_ name: String) -> Bool {
        let redactor = Redactor.standard
        return redactor.isSecret(parameter: name) || redactor.isSecret(member: name) || redactor.isSecret(header: name)
    }

    @Test("names of secrets are masked, but for the stated misses", .requirement("S2.24"))
    func misses() {
        #expect(Set(Self.secrets).count == Self.secrets.count && Self.secrets.count >= 200)
        #expect(Self.secrets.filter { !isMasked($0) } == [])
        #expect(Self.misses.filter(isMasked) == [])
    }

    @Test("names without secrets are shown, but for the stated false alarms", .requirement("S2.24"))
    func falseAlarms() {
        #expect(Set(Self.harmless).count == Self.harmless.count && Self.harmless.count >= 200)
        #expect(Self.harmless.filter(isMasked) == [])
        #expect(Self.falseAlarms.filter { !isMasked($0) } == [])
    }
}
